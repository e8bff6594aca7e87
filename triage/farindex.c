/* farindex: see farindex.h. Numbers that are no pointers, but larger than what a program counts by chance; elements of the sizes that
 * types have. Some thousand sums are tried, and of 2^47 places the good ones are a few thousand pages: a match is no accident. */
#include "farindex.h"

#include "bitflip.h"

enum { LARGEST = 256 };
#define LEAST (UINT64_C(1) << 24)
#define MOST  (UINT64_C(1) << 40) /* where pointers begin */

/* 1, 2, 4, 8, 16, 24, … */
static uint64_t next_size(uint64_t size)
{
	return size < 8 ? size * 2 : size + 8;
}

static bool try_number(const struct xc_inquiry *q, uint64_t value, int64_t number, int reg, struct xc_farindex *out)
{
	uint64_t count = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	if (count < LEAST || count > MOST)
		return false;
	for (uint64_t size = 1; size <= LARGEST; size = next_size(size))
		for (int below = 0; below < 2; below++) {
			xc_addr good = below ? value + count * size : value - count * size;
			const char *what = xc_bitflip_goodness(q, good, reg);
			if (!what)
				continue;
			*out = (struct xc_farindex){
				.good = good, .what = what, .number = number, .size = size, .below = below};
			return true;
		}
	return false;
}

bool xc_farindex_find(const struct xc_inquiry *q, uint64_t value, int reg, struct xc_farindex *out)
{
	const struct xc_arch *arch = q->process->arch;
	if (xc_process_mapping(q->process, value))
		return false;
	for (int number = 0; number < arch->frame_regs; number++) {
		uint64_t held;
		if (number == reg || number == arch->pc || number == arch->sp ||
		    !xc_regs_get(&q->fault.frame.regs, number, &held))
			continue;
		if ((held <= UINT32_MAX && try_number(q, value, (int32_t)(uint32_t)held, reg, out)) ||
		    try_number(q, value, (int64_t)held, reg, out)) {
			out->reg = number;
			return true;
		}
	}
	return false;
}
