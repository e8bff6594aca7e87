/* stack_cycle: a cycle of calls that repeats in a stack, as in "14,310 × [parse_value → parse_array]".
 *
 * Detected while the stack is unwound, in constant memory: zero the struct, and watch each frame, innermost first. */
#ifndef XC_STACK_CYCLE_H
#define XC_STACK_CYCLE_H

#include "core/process/process.h"

enum {
	XC_CYCLE_LENGTH = 10, /* addresses in a cycle, at most */
	XC_CYCLE_TIMES = 8,   /* repeats from which a cycle is reported */
	XC_CYCLE_RECENT = 16, /* a power of two above XC_CYCLE_LENGTH */
};

struct xc_stack_cycle {
	xc_addr recent[XC_CYCLE_RECENT]; /* addresses of the last frames */
	uint64_t seen;
	uint64_t run[XC_CYCLE_LENGTH + 1]; /* consecutive frames that equal the one k frames before */
	uint64_t best_run;
	size_t best_length; /* of the longest cycle; 0: none */
	xc_addr best[XC_CYCLE_LENGTH];
};

void xc_stack_cycle_watch(struct xc_stack_cycle *cycle, xc_addr pc);

/* "N × [outer → inner]", in the order of the calls; NULL without a cycle. Made in the arena. */
const char *xc_stack_cycle_text(const struct xc_stack_cycle *cycle, const struct xc_process *process,
				struct xc_arena *arena);

#endif
