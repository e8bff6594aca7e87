/* failed_allocation: memory that could not be had: the program asked an allocator, got NULL, and gave up. */
#ifndef XC_FAILED_ALLOCATION_H
#define XC_FAILED_ALLOCATION_H

#include "triage/crash/crash_context.h"

/* Judge an abort as out-of-memory when its caller, or one of the next frames, comes to its call only over a test of what an allocator
 * returned: `p = malloc(size); if (!p) abort();`. Tells how many bytes were asked for, errno, and what the heap had. False when it is not so, or
 * the code does not tell: then nothing is said. "likely": it may have given up for another reason that comes to the same call. x86-64. */
bool xc_failed_allocation_classify(struct xc_crash_context *crash);

#endif
