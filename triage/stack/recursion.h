/* recursion: exhausted stacks: by recursion, by a frame larger than the stack, by alloca. */
#ifndef XC_RECURSION_H
#define XC_RECURSION_H

#include "triage/crash/crash_context.h"
#include "triage/stack/stack_end.h"

/* Class stack-overflow: what fills the stack, the cycle and its entry, and the arguments that change from round to
 * round. False when the stack is not exhausted. Walks the whole stack. */
bool xc_recursion_classify(struct xc_crash_context *crash);

/* The same for a stack that is known to be exhausted. */
void xc_recursion_classify_end(struct xc_crash_context *crash, const struct xc_stack_end *end);

#endif
