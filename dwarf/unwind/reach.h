/* reach: can a call have led to the function that runs: directly, through a stub of the linkage table, or by jumps of
 * the called function as its last action? */
#ifndef XC_REACH_H
#define XC_REACH_H

#include "core/process/process.h"

/* Code that a frame belongs to: [lo, hi) when a symbol tells; hi 0: only pc is known. */
struct xc_function_range {
	xc_addr pc, lo, hi;
};

/* The function of the symbol at a code address of the process. */
struct xc_function_range xc_function_range_of(const struct xc_process *process, xc_addr pc);

/* No only when the code shows that a direct call to `target` leads elsewhere. target 0 (an indirect call), code that
 * cannot be read, jumps through pointers and machines whose code is not decoded count as yes. Adds the number of
 * instructions read (at most 2,048) to *cost. */
bool xc_reach_may(const struct xc_process *process, xc_addr target, const struct xc_function_range *callee,
		  uint64_t *cost);

#endif
