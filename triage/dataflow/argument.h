/* argument: the arguments of a call that has not returned: from the call site of the caller, from the code before
 * the call, or from where the callee stored them. x86-64, System V convention; elsewhere nothing is found. */
#ifndef XC_ARGUMENT_H
#define XC_ARGUMENT_H

#include "triage/crash/crash_context.h"

/* The integer or pointer that frames[caller] passed as argument `number` (0 to 5) of its unfinished call. False when
 * it is not known; never a value from another path through the code. */
bool xc_argument_find(const struct xc_crash_context *crash, size_t caller, unsigned number, uint64_t *value_out);

/* The function that the frame called, by its call instruction; it may have jumped on to another one. NULL when the
 * code does not show it. Lives as long as the process. */
const char *xc_argument_callee(const struct xc_crash_context *crash, size_t caller);

#endif
