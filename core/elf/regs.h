/* regs: the registers of one frame, with a known bit for each.
 *
 * A register that the unwinder could not restore is unknown: it is never zero and never the callee's value. */
#ifndef XC_REGS_H
#define XC_REGS_H

#include <string.h>

#include "core/elf/arch.h"

/* Vector and floating-point registers as the kernel saved them. Only the innermost frame and frames interrupted by a
 * signal have them, because calls do not preserve them. */
struct xc_vector_regs {
	uint8_t xmm[32][16];      /* x86-64: xmm0…31 (low 128 bits); aarch64: v0…v31 */
	uint8_t st[8][10];        /* x86: the x87 stack, st(0) first */
	uint8_t ymm_high[16][16]; /* x86: the high 128 bits of ymm0…15 */
	uint8_t xmm_count, st_count, ymm_count;
};

enum { XC_YMM_SIZE = 32 };

/* The whole of ymm<index>, lowest byte first; false when it is not known. */
static inline bool xc_vector_ymm(const struct xc_vector_regs *v, uint64_t index, uint8_t out[XC_YMM_SIZE])
{
	if (!v || index >= v->ymm_count)
		return false;
	memcpy(out, v->xmm[index], 16);
	memcpy(out + 16, v->ymm_high[index], 16);
	return true;
}

struct xc_regs {
	uint64_t value[XC_REG_MAX]; /* by DWARF number */
	uint64_t known[(XC_REG_MAX + 63) / 64];
	uint64_t left[(XC_REG_MAX + 63) / 64]; /* unknown here, but the value is still the callee's */
	const struct xc_vector_regs *vector;   /* borrowed from the thread; NULL when unknown */
};

static inline bool xc_regs_known(const struct xc_regs *regs, int number)
{
	return number >= 0 && number < XC_REG_MAX && (regs->known[number / 64] >> (number % 64) & 1);
}

static inline bool xc_regs_get(const struct xc_regs *regs, int number, uint64_t *value_out)
{
	if (!xc_regs_known(regs, number))
		return false;
	*value_out = regs->value[number];
	return true;
}

static inline void xc_regs_set(struct xc_regs *regs, int number, uint64_t value)
{
	if (number < 0 || number >= XC_REG_MAX)
		return;
	regs->value[number] = value;
	regs->known[number / 64] |= UINT64_C(1) << (number % 64);
	regs->left[number / 64] &= ~(UINT64_C(1) << (number % 64));
}

static inline void xc_regs_forget(struct xc_regs *regs, int number)
{
	if (!xc_regs_known(regs, number))
		return;
	regs->known[number / 64] &= ~(UINT64_C(1) << (number % 64));
	regs->left[number / 64] |= UINT64_C(1) << (number % 64);
}

/* Make all registers from number `from` on unknown, except those of the set. */
static inline void xc_regs_forget_from(struct xc_regs *regs, unsigned from, const uint64_t but[2])
{
	for (unsigned i = 0; i < XC_COUNT(regs->known); i++) {
		unsigned lo = 64 * i;
		uint64_t set = from >= lo + 64 ? 0 : from > lo ? ~UINT64_C(0) << (from - lo) : ~UINT64_C(0);
		set &= regs->known[i] & ~but[i];
		regs->known[i] &= ~set;
		regs->left[i] |= set;
	}
}

/* The value that an unknown register had in the callee. It is the caller's value only if the callee did not change the
 * register, which the caller of this function must know. */
static inline bool xc_regs_left(const struct xc_regs *regs, int number, uint64_t *value_out)
{
	if (number < 0 || number >= XC_REG_MAX || !(regs->left[number / 64] >> (number % 64) & 1))
		return false;
	*value_out = regs->value[number];
	return true;
}

#endif
