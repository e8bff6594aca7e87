/* call_cycle: the functions of a recursion's round, as people are told of them. */
#ifndef XC_CALL_CYCLE_H
#define XC_CALL_CYCLE_H

#include "triage/stack/stack_usage.h"

/* A stack whose period is not 0. Positions count callers first, and go round: that of the period is the first again. */
struct xc_call_cycle {
	const struct xc_crash_context *crash;
	const struct xc_stack_usage *use;
	size_t start; /* position that is told first */
};

/* A function's name for people, or where it is; of a library's templates without their arguments. Appends. */
void xc_call_cycle_name(const struct xc_crash_context *crash, const struct xc_stack_user *user, struct xc_text *text);

/* Choose the start, so that a cycle is told alike wherever it was entered: a function of the program, by the smallest names. */
void xc_call_cycle_rotate(struct xc_call_cycle *cycle);

/* The function at a position behind the start. */
const struct xc_stack_user *xc_call_cycle_user(const struct xc_call_cycle *cycle, size_t position);

/* Is it one of the cycle's, by its name? Its first call may not be inlined as the others are. */
bool xc_call_cycle_has(const struct xc_call_cycle *cycle, const struct xc_stack_user *user);

uint64_t xc_call_cycle_rounds(const struct xc_call_cycle *cycle);

/* Append "f → g → h", the longest ones cut. */
void xc_call_cycle_describe(const struct xc_call_cycle *cycle, struct xc_text *text);

/* The same of the program's functions alone; returns how many there are, and tells of the first one (of a library) that is left out. */
size_t xc_call_cycle_describe_own(const struct xc_call_cycle *cycle, struct xc_text *text,
				  const struct xc_stack_user **through_out);

#endif
