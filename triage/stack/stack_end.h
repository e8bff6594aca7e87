/* stack_end: faults at the lower end of a stack: it is used up. */
#ifndef XC_STACK_END_H
#define XC_STACK_END_H

#include "triage/crash/crash_context.h"

struct xc_stack_end {
	const struct xc_mapping *stack; /* that the frames lie in */
	const struct xc_mapping *guard; /* without rights, right below it; NULL: nothing is mapped there */
	xc_addr addr;                   /* that was touched, below the stack */
	xc_addr sp;                     /* of the innermost frame */
	const char *limit;              /* why it ends, where not the kernel ended it: a run-time; else NULL */
	bool framed; /* the frames lead from there into the stack; else it is told by the mappings alone */
};

/* Was memory touched that belongs to a frame, but not to the stack any more? Pointers that merely happen to lead below a stack are none of
 * that. False also when the kernel told no address and the instruction does not decode. */
bool xc_stack_end_find(const struct xc_crash_context *crash, struct xc_stack_end *out);

#endif
