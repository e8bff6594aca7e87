/* broken_argument: a function was given an invalid object of the C++ library: its pointer leads to unmapped memory. */
#ifndef XC_BROKEN_ARGUMENT_H
#define XC_BROKEN_ARGUMENT_H

#include "triage/crash/crash_context.h"

/* For an access to unmapped memory by a pointer that one of the objects has, which the crashed functions work on, where
 * that object is no valid container or string: evidence that names it, `e.body`, and why it is not valid. Where no
 * expression is known, it becomes that, and the cause. Sets crash->broken, and crash->number where the pointer is a
 * small number. */
void xc_broken_argument_report(struct xc_crash_context *crash);

#endif
