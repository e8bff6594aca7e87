/* endless_list: a list of variable arguments that NULL, or a count, should have ended: va_arg() took more than the call
 * had passed. */
#ifndef XC_ENDLESS_LIST_H
#define XC_ENDLESS_LIST_H

#include "triage/crash/crash_context.h"

/* For a bad pointer that the blamed function, one of variable arguments, has just taken from its list: adds to the
 * cause which argument it took, and how many the call passed. Nothing where the code of the caller does not show that
 * fewer were passed. x86-64. */
void xc_endless_list_report(struct xc_crash_context *crash);

#endif
