/* expression: the faulting operand as the source writes it, the bad part of it, and the origin of that part. */
#ifndef XC_EXPRESSION_H
#define XC_EXPRESSION_H

#include "triage/crash/crash_context.h"

/* Set verdict->expression and origin for a fault with a memory operand, a call through a pointer, or a division.
 * Also set the cause where the class says only that a pointer is NULL or wild. Does nothing where the code or its
 * debug information is insufficient. Reads the code of at most six functions. */
void xc_expression_report(struct xc_crash_context *crash);

#endif
