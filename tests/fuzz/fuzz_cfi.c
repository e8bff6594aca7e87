/* layer: dwarf
 *
 * Call frame information: the input is .eh_frame; rows of many addresses are read and applied. */
#include "tests/fuzz/frame_info.h"

#include "dwarf/cfi/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Without a value, the missing data is reported. */
static bool answers(const struct xc_process *p, const struct xc_cfi_row *row, int i, const struct xc_regs *regs,
		    xc_addr cfa, xc_addr marker)
{
	uint64_t value;
	xc_addr missing = marker;
	return xc_cfi_register(p, row, i, regs, cfa, &value, &missing) || missing != marker;
}

static void apply(const struct xc_process *p, const struct xc_cfi_row *row, const struct xc_regs *regs)
{
	xc_addr cfa = STACK, missing;
	if (!row->found)
		return;
	if (row->return_reg < 0 || row->return_reg >= row->rule_count)
		abort();
	xc_cfi_cfa(p, row, regs, &cfa, &missing);
	for (int i = 0; i < row->rule_count; i++)
		if (!answers(p, row, i, regs, cfa, 1) && !answers(p, row, i, regs, cfa, 2))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t stack[512];
	struct xc_regs regs = {.vector = NULL}, none = {.vector = NULL};
	memset(stack, 0x40, sizeof stack);
	struct target t = make_target(data, size, stack, sizeof stack);
	struct xc_cfi *cfi = xc_cfi_new(t.process);
	for (int i = 0; i <= 16; i++)
		xc_regs_set(&regs, i, STACK + 16 * (uint64_t)i);
	for (xc_addr at = CODE; at < FRAMES; at += at < CODE + 64 ? 1 : 61) {
		const struct xc_cfi_row *row = xc_cfi_row(cfi, at);
		apply(t.process, row, &regs);
		apply(t.process, row, &none);
	}
	xc_cfi_free(cfi);
	end_target(&t);
	return 0;
}
