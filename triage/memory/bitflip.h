/* bitflip: pointers that one bit keeps from being good. */
#ifndef XC_BITFLIP_H
#define XC_BITFLIP_H

#include "triage/crash/inquiry.h"

struct xc_bitflip {
	unsigned bit;
	xc_addr good;
	const char *what; /* "where a live block begins": why it counts as good */
};

/* Why an address counts as one that the program had use for: a live block begins there, or a register other than `reg` points near it.
 * NULL: it does not. begins_out: it is the former. */
const char *xc_bitflip_goodness(const struct xc_inquiry *q, xc_addr addr, int reg, bool *begins_out);

/* Is there exactly one bit of the value which, flipped, makes it a pointer that the program had use for? reg: the register that holds it,
 * or -1. False for values that lead to memory as they are. */
bool xc_bitflip_find(const struct xc_inquiry *q, uint64_t value, int reg, struct xc_bitflip *out);

#endif
