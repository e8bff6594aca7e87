/* bit_flip: 64 values are one bit away from any value. By chance none of them is where a block begins, and hardly
 * one is near another register's value. The low bits are ignored: they move a pointer within its target. */
#include "triage/memory/bit_flip.h"

enum {
	LOWEST = 12,
	NEAR = 4096,
	FAR_BIT = 20, /* less far away a pointer may have run to, past the end of what is mapped */
};

static bool is_begin(const struct xc_crash_context *crash, xc_addr addr)
{
	if (!crash->heap)
		return false;
	uint32_t block = xc_blocks_find(&crash->heap->blocks, addr);
	return block != XC_NO_BLOCK && xc_block_addr(&crash->heap->blocks, block) == addr &&
	       xc_block_state(&crash->heap->blocks, block) == XC_BLOCK_LIVE;
}

/* Is there another register that points close by? */
static bool is_near_register(const struct xc_crash_context *crash, xc_addr addr, int reg)
{
	const struct xc_arch *arch = crash->process->arch;
	for (int number = 0; number < arch->frame_regs; number++) {
		uint64_t value;
		if (number != reg && number != arch->pc && xc_regs_get(&crash->fault.frame.regs, number, &value) &&
		    (value - addr <= NEAR || addr - value <= NEAR))
			return true;
	}
	return false;
}

const char *xc_bit_flip_goodness(const struct xc_crash_context *crash, xc_addr addr, int reg, bool *begins_out)
{
	const struct xc_mapping *m = xc_process_mapping(crash->process, addr);
	bool readable = m && m->readable;
	*begins_out = readable && is_begin(crash, addr);
	if (!readable)
		return NULL;
	if (*begins_out)
		return "where a live block begins";
	return m->writable && is_near_register(crash, addr, reg) ? "near which another register points" : NULL;
}

bool xc_bit_flip_find(const struct xc_crash_context *crash, uint64_t value, int reg, struct xc_bit_flip *out)
{
	unsigned found = 0;
	if (xc_process_mapping(crash->process, value))
		return false;
	for (unsigned bit = LOWEST; bit < 8U * crash->process->arch->word; bit++) {
		xc_addr addr = value ^ (UINT64_C(1) << bit);
		bool begins;
		const char *what = xc_bit_flip_goodness(crash, addr, reg, &begins);
		if (!what || (!begins && bit < FAR_BIT))
			continue;
		*out = (struct xc_bit_flip){.bit = bit, .good = addr, .what = what};
		found++;
	}
	return found == 1;
}
