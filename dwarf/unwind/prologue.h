/* prologue: what a function without call frame information has done to the stack, read from its first instructions. */
#ifndef XC_PROLOGUE_H
#define XC_PROLOGUE_H

#include "core/process/process.h"

struct xc_prologue {
	bool known;         /* false: code not readable, or not of a machine we read */
	bool frame_pointer; /* the frame pointer holds the frame address, in the way compilers set it up */
	bool whole;         /* all instructions up to pc were read: depth is exact */
	uint64_t depth;     /* bytes by which sp stands below where it was at the call (below the return address that a
	                     * call pushed, where it pushes one) */
	bool link_saved; /* machines with a link register: it was stored link_below bytes below where sp was at the call */
	int64_t link_below;
	uint32_t saved; /* bit per general register 0 … 31 that was stored, likewise */
	int32_t below[32];
};

/* The function begins at start (0: not known; with Thumb's bit on arm) and has come to pc. Reads 64 bytes at most;
 * instructions of no prologue end it, so depth is what the function has below its return address if it moves sp nowhere
 * else. */
struct xc_prologue xc_prologue_read(const struct xc_process *process, xc_addr start, xc_addr pc);

#endif
