/* prologue: the effect on the stack of a function without call frame information, read from its first instructions. */
#ifndef XC_PROLOGUE_H
#define XC_PROLOGUE_H

#include "core/process/process.h"

struct xc_prologue {
	bool known;         /* false: code not readable, or a machine that is not supported */
	bool frame_pointer; /* the frame pointer holds the frame address, as compilers set it up */
	bool whole;         /* all instructions up to pc were read: depth is exact */
	/* Bytes by which sp is below its value at the call (below the return address, where a call pushes one). */
	uint64_t depth;
	bool link_saved; /* machines with a link register: it was stored link_below bytes below sp at the call */
	int64_t link_below;
	uint32_t saved; /* bit per general register 0 … 31 that was stored, likewise */
	int32_t below[32];
};

/* The function begins at start (0: unknown; with Thumb's bit on arm) and has reached pc. Reads at most 64 bytes; an
 * instruction outside of prologues ends the reading, so depth is the function's stack use if it moves sp nowhere
 * else. */
struct xc_prologue xc_prologue_read(const struct xc_process *process, xc_addr start, xc_addr pc);

#endif
