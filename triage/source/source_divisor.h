/* source_divisor: the divisor that is 0, by the text of the source line, where the code does not show it. */
#ifndef XC_SOURCE_DIVISOR_H
#define XC_SOURCE_DIVISOR_H

#include "triage/crash/crash_context.h"

/* For a division by zero without an expression: what is behind `/` or `%` on the blamed line is evaluated; the only one
 * that is 0 becomes expression and cause (likely). Nothing without the source. */
void xc_source_divisor_report(struct xc_crash_context *crash);

#endif
