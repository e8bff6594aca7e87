/* bit_flip: pointers that differ from a valid one in a single bit. */
#ifndef XC_BIT_FLIP_H
#define XC_BIT_FLIP_H

#include "triage/crash/crash_context.h"

struct xc_bit_flip {
	unsigned bit;
	xc_addr good;
	const char *what; /* "where a live block begins": why it counts as valid */
};

/* Why an address counts as valid: a live block begins there, or a register other than `reg` points near it. NULL: it
 * does not. *begins_out: a block begins there. */
const char *xc_bit_flip_goodness(const struct xc_crash_context *crash, xc_addr addr, int reg, bool *begins_out);

/* Is there exactly one bit of the value whose flip makes it a valid pointer? reg: the register that holds it, or -1.
 * False for values that point to memory as they are. */
bool xc_bit_flip_find(const struct xc_crash_context *crash, uint64_t value, int reg, struct xc_bit_flip *out);

#endif
