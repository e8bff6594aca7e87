/* failed_allocation: the program called an allocator, got NULL, and gave up. */
#ifndef XC_FAILED_ALLOCATION_H
#define XC_FAILED_ALLOCATION_H

#include "triage/crash/crash_context.h"

/* Classify an abort as out-of-memory when its caller, or one of the next frames, reaches its call only through a
 * test of an allocator's result: `p = malloc(size); if (!p) abort();`. Reports the bytes requested, errno, and the
 * size of the heap. False, with nothing reported, when this is not so or the code does not show it. Confidence is
 * "likely": another reason may lead to the same call. x86-64. */
bool xc_failed_allocation_classify(struct xc_crash_context *crash);

#endif
