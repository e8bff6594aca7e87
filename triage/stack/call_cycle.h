/* call_cycle: the functions of one round of a recursion, and their description. */
#ifndef XC_CALL_CYCLE_H
#define XC_CALL_CYCLE_H

#include "triage/stack/stack_usage.h"

/* A stack whose period is not 0. Positions count from caller to callee, modulo the period. */
struct xc_call_cycle {
	const struct xc_crash_context *crash;
	const struct xc_stack_usage *use;
	size_t start; /* position that is described first */
};

/* Append the name of a function, or its place. Library templates have no arguments. */
void xc_call_cycle_name(const struct xc_crash_context *crash, const struct xc_stack_user *user, struct xc_text *text);

/* Choose the start, so that a cycle has the same description wherever it was entered: a function of the program,
 * with the smallest name. */
void xc_call_cycle_rotate(struct xc_call_cycle *cycle);

/* The function at a position after the start. */
const struct xc_stack_user *xc_call_cycle_user(const struct xc_call_cycle *cycle, size_t position);

/* Is it a function of the cycle, by its name? Its first call may be inlined differently. */
bool xc_call_cycle_has(const struct xc_call_cycle *cycle, const struct xc_stack_user *user);

/* How often the only function of the program is in a round: more than once where its calls are inlined into it. */
size_t xc_call_cycle_calls(const struct xc_call_cycle *cycle);

uint64_t xc_call_cycle_rounds(const struct xc_call_cycle *cycle);

/* Is a function of the program in it? */
bool xc_call_cycle_is_own(const struct xc_call_cycle *cycle);

/* Append "f → g → h"; long cycles are shortened. */
void xc_call_cycle_describe(const struct xc_call_cycle *cycle, struct xc_text *text);

/* The same with functions of the program only. Returns their number, and the first library function that is left
 * out. */
size_t xc_call_cycle_describe_own(const struct xc_call_cycle *cycle, struct xc_text *text,
				  const struct xc_stack_user **through_out);

#endif
