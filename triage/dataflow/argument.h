/* argument: what a function passed to the one that it called and that has not returned: from the caller's call site, from the code
 * before the call, or from where the callee keeps it. x86-64, its System V convention; elsewhere nothing is found. */
#ifndef XC_ARGUMENT_H
#define XC_ARGUMENT_H

#include "triage/crash/crash_context.h"

/* The integer or pointer that frames[caller] passed as argument `number` (from 0, at most 5) of its unfinished call. False when that
 * is not known: never a value of another path through the code. */
bool xc_argument_find(const struct xc_crash_context *crash, size_t caller, unsigned number, uint64_t *value_out);

/* The function that the frame called, by its call instruction: it may have jumped on to another. NULL when the code does not tell. Lives
 * as long as the process. */
const char *xc_argument_callee(const struct xc_crash_context *crash, size_t caller);

#endif
