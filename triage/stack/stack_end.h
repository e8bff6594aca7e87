/* stack_end: faults at the lower end of a stack: it is exhausted. */
#ifndef XC_STACK_END_H
#define XC_STACK_END_H

#include "triage/crash/crash_context.h"

struct xc_stack_end {
	const struct xc_mapping *stack; /* that contains the frames */
	const struct xc_mapping *guard; /* without rights, directly below it; NULL: nothing is mapped there */
	xc_addr addr;                   /* that was accessed, below the stack */
	xc_addr sp;                     /* of the innermost frame */
	const char *limit;              /* why it ends, when a runtime and not the kernel set its limit; else NULL */
	bool framed; /* the frames lead from there into the stack; else known from the mappings alone */
};

/* Did the access hit memory of a frame that is beyond the end of the stack? Pointers that happen to point below a
 * stack do not count. False also when the kernel gave no address and the instruction does not decode. */
bool xc_stack_end_find(const struct xc_crash_context *crash, struct xc_stack_end *out);

#endif
