/* rseq: the rule of SIGSEGV from the kernel itself, which could not use a thread's restartable sequences. */
#ifndef XC_RSEQ_H
#define XC_RSEQ_H

#include "triage/crash/crash_context.h"

/* The class heap-overrun, or wild-write, for a signal that no instruction raised: the thread's `struct rseq`, which the
 * C library registers with the kernel, was overwritten, so the kernel ended the thread when it next ran it. False when
 * the C library has none (glibc before 2.35, musl), the thread pointer is not known, or what is there is valid. */
bool xc_rseq_classify(struct xc_crash_context *crash);

#endif
