/* perf_regs: orders of registers: arch/x86/include/uapi/asm/perf_regs.h and arch/arm64/include/uapi/asm/perf_regs.h,
 * Linux 6.1. A 32-bit program on x86-64 has the registers of the 64-bit order too. */
#include "core/perf/perf_regs.h"

#include <elf.h>
#include <string.h>

/* By bit of the mask, the DWARF number; -1: of no interest. Segment registers ds, es, fs and gs (12 to 15) cannot be
 * asked for. */
static const int8_t x86_64[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 49, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15};
static const int8_t i386[] = {0, 3, 1, 2, 6, 7, 5, 4, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
static const int8_t aarch64[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
				 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

static const uint64_t X86_MASK = 0xff0fff, ARM64_MASK = (UINT64_C(1) << 33) - 1;

uint64_t xc_perf_regs_mask(void)
{
	switch (xc_arch_host()->machine) {
	case EM_X86_64:
		return X86_MASK;
	case EM_AARCH64:
		return ARM64_MASK;
	default:
		return 0;
	}
}

static const int8_t *order_of(const struct xc_arch *arch)
{
	const uint16_t host = xc_arch_host()->machine;
	if (host == EM_X86_64)
		return xc_arch_is_x86_64(arch) ? x86_64 : arch->machine == EM_386 ? i386 : NULL;
	return host == EM_AARCH64 && arch->machine == EM_AARCH64 ? aarch64 : NULL;
}

bool xc_perf_regs_read(const struct xc_arch *arch, const uint64_t *values, struct xc_regs *regs_out)
{
	const int8_t *order = order_of(arch);
	const uint64_t mask = xc_perf_regs_mask();
	memset(regs_out, 0, sizeof *regs_out);
	for (unsigned bit = 0, at = 0; order && mask >> bit; bit++) {
		if (!(mask >> bit & 1))
			continue;
		const uint64_t value = values[at++];
		const bool lost = value == UINT64_MAX && arch->machine != EM_AARCH64;
		if (order[bit] >= 0 && !lost)
			xc_regs_set(regs_out, order[bit], xc_arch_wrap(arch, value));
	}
	return order != NULL;
}
