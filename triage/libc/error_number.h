/* error_number: errno of the thread that died: why the last call failed that set it. */
#ifndef XC_ERROR_NUMBER_H
#define XC_ERROR_NUMBER_H

#include "triage/crash/crash_context.h"

/* For a program that ended itself (classes assertion and abort), or used what a call returned that failed (by_errno):
 * errno by number, name and text, as evidence. It is that of some earlier call: a call that works leaves it alone.
 * Nothing where it is 0 or not known. */
void xc_error_number_report(struct xc_crash_context *crash);

/* errno of the thread that died; 0 where it is not known. */
int xc_error_number_of(const struct xc_crash_context *crash);

#endif
