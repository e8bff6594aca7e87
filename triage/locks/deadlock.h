/* deadlock: threads that wait for each other, and what else there is to say about locks. */
#ifndef XC_DEADLOCK_H
#define XC_DEADLOCK_H

#include "triage/crash/crash_context.h"
#include "triage/locks/lock.h"

/* Does the process stand still because threads wait in a circle, or for the lock of a thread that has ended? */
bool xc_deadlock_exists(struct xc_process *process);

/* The class deadlock (kind "cycle", "self", "dead owner"), with its own headline and culprit, when that is why a program stood still that
 * somebody killed, or that aborted by itself; of other deaths, and of locks that many wait for, evidence. */
void xc_deadlock_classify(struct xc_crash_context *crash);

/* "thread 17 waits for mutex `a` in f (x.c:4); thread 12, which took it, is not there any more …": of an orphan (locks.h). */
void xc_deadlock_describe_orphan(const struct xc_process *process, const struct xc_locks *locks,
				 const struct xc_lock *lock, struct xc_text *text);

/* A section "locks": those that are waited for, and circles. Nothing when no thread waits for a lock. */
void xc_deadlock_report(struct xc_report *report, struct xc_process *process);

#endif
