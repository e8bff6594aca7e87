/* deadlock: threads that wait for each other, and other facts about locks. */
#ifndef XC_DEADLOCK_H
#define XC_DEADLOCK_H

#include "triage/crash/crash_context.h"
#include "triage/locks/lock.h"

/* Is the process hung because threads wait in a cycle, or for the lock of a thread that has ended? */
bool xc_deadlock_exists(struct xc_process *process);

/* Do threads wait for a lock of the program that a known thread holds, outside of any cycle? It may be given back a
 * moment later. */
bool xc_deadlock_is_held(struct xc_process *process);

/* Set the class deadlock (kind "cycle", "self", "dead owner"), with its own headline and culprit, when a deadlock is
 * why a hung program was killed or aborted itself; or the class hang (kind "lock held", a guess) of a program that goes
 * on. For other deaths, and for contended locks, add evidence. */
void xc_deadlock_classify(struct xc_crash_context *crash);

/* Append "thread 17 waits for mutex `a` in f (x.c:4); thread 12, which took it, does not exist any more …", for an
 * orphan (lock.h). */
void xc_deadlock_describe_orphan(const struct xc_process *process, const struct xc_locks *locks,
				 const struct xc_lock *lock, struct xc_text *text);

/* Add a section "locks" with the contended locks and the cycles. Nothing when no thread waits for a lock. */
void xc_deadlock_report(struct xc_report *report, struct xc_process *process);

#endif
