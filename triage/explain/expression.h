/* expression: the faulting operand as the source writes it, the part of it that is bad, and where that came from. */
#ifndef XC_EXPRESSION_H
#define XC_EXPRESSION_H

#include "triage/crash/crash_context.h"

/* Set verdict->expression and origin of a fault with a memory operand, of a call through a pointer, of a division; and the cause
 * sentence where the class says no more than that a pointer is NULL or wild. Says nothing where the code or its debug information
 * does not tell. Reads the code of at most six functions. */
void xc_expression_report(struct xc_crash_context *crash);

#endif
