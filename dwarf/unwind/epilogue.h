/* epilogue: how a function without call frame information will return, read from its code onward from pc.
 *
 * The instructions that leave the function show how far sp is below the return address, and where the registers are
 * that the function has saved, without a symbol for its beginning and whatever its prologue looks like: of code that a
 * compiler made at run time, too. */
#ifndef XC_EPILOGUE_H
#define XC_EPILOGUE_H

#include "core/process/process.h"

enum { XC_WAYS_OUT = 4 };

/* Relative to sp or to the frame pointer as they are at pc. */
struct xc_stack_place {
	bool by_fp;
	int64_t at;
};

struct xc_way_out {
	bool in_link;                     /* machines with a link register: it still holds the return address */
	struct xc_stack_place ret;        /* else the return address is stored there */
	struct xc_stack_place sp;         /* the caller's stack pointer */
	uint32_t kept;                    /* bit per register 0 … 31 that is not written on the way */
	uint32_t restored;                /* bit per register 0 … 31 that is loaded from the stack on the way */
	struct xc_stack_place places[32]; /* and from where */
};

struct xc_epilogue {
	xc_addr pc;   /* that it was read for */
	size_t count; /* different ways; paths that end otherwise (calls that do not return) give none */
	size_t read;  /* instructions */
	struct xc_way_out ways[XC_WAYS_OUT];
};

/* Follow the code from pc. Only [lo, hi) belongs to the function; hi 0: its extent is unknown. tails: where no path
 * returns, jumps out of [lo, hi) count as returns: they are tail calls. Reads at most 1,024 instructions. */
void xc_epilogue_read(const struct xc_process *process, xc_addr pc, xc_addr lo, xc_addr hi, bool tails,
		      struct xc_epilogue *out);

/* By how many bytes sp is below its value at the call (below the return address, where a call pushes one), when the
 * function [lo, hi) has reached pc: from its first instruction on. False when no path that is understood leads there.
 * Reads at most 1,024 instructions, and adds their number to *cost. */
bool xc_epilogue_depth(const struct xc_process *process, xc_addr lo, xc_addr hi, xc_addr pc, uint64_t *depth_out,
		       uint64_t *cost);

#endif
