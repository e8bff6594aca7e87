/* hang: programs in which every thread waits for another one. */
#ifndef XC_HANG_H
#define XC_HANG_H

#include "triage/crash/crash_context.h"

/* Does every thread wait, without a timeout, for something that only a thread of this process can do: signal a
 * condition, set a result, unlock, end? */
bool xc_hang_exists(struct xc_process *process);

/* Set the class deadlock (kind "all wait", likely) where another process killed such a program, asked it for a core, or
 * it runs; also where a function called a watchdog aborted it, whose own thread then does not count. Call it after
 * xc_deadlock_classify: a cycle of locks says more. */
void xc_hang_classify(struct xc_crash_context *crash);

#endif
