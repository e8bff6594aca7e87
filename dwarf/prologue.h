/* prologue: what a function without call frame information has done to the stack, read from its first instructions. */
#ifndef XC_PROLOGUE_H
#define XC_PROLOGUE_H

#include "../core/process.h"

struct xc_prologue {
	bool known;         /* false: code not readable, or not of a machine we read */
	bool frame_pointer; /* rbp holds the frame address, in the way compilers set it up */
	uint64_t depth;     /* bytes between sp and the return address: pushes and what was subtracted */
};

/* The function begins at start (0: not known) and has come to pc. Reads 64 bytes at most; instructions of no prologue end
 * it, so depth is what the function has below its return address if it moves sp nowhere else. */
struct xc_prologue xc_prologue_read(const struct xc_process *process, xc_addr start, xc_addr pc);

#endif
