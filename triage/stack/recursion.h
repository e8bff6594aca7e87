/* recursion: stacks that are used up: by recursion, by a frame larger than the stack, by alloca. */
#ifndef XC_RECURSION_H
#define XC_RECURSION_H

#include "triage/crash/inquiry.h"
#include "triage/stack/stackend.h"

/* The class stack-overflow: what fills the stack, the cycle and where it was entered, what goes from round to round. False when the
 * stack is not used up. Walks the whole stack. */
bool xc_recursion_judge(struct xc_inquiry *q);

/* The same of a stack that is known to be used up. */
void xc_recursion_judge_end(struct xc_inquiry *q, const struct xc_stackend *end);

#endif
