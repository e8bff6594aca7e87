/* unwoken: where every thread waits, who would have had to wake one, and what likely kept it from that. */
#ifndef XC_UNWOKEN_H
#define XC_UNWOKEN_H

#include "triage/crash/crash_context.h"

/* Report as evidence, of a process in which every thread waits but `except` (or NULL):
 *
 * - a semaphore that is 0, for which all wait but those that wait for a thread's end: what was taken was not given
 *   back;
 * - the result of a future: that its promise still exists;
 * - a barrier to which too few have come, while nobody is left to come;
 * - a reader-writer lock that has readers, while all wait to write, or for a thread's end: one may be a reader itself;
 * - a condition whose waiters another thread waits for to end, and beside it, in the same object, a flag by whose name
 *   it tells them to end, which is not set.
 *
 * Unwinds the stacks of the first waiters, 48 frames of each. */
void xc_unwoken_report(struct xc_crash_context *crash, const struct xc_thread *except);

#endif
