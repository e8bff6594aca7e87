/* hang: programs in which every thread waits for another one. */
#ifndef XC_HANG_H
#define XC_HANG_H

#include "triage/crash/crash_context.h"

enum xc_hang {
	XC_HANG_NONE,
	XC_HANG_GUESS,  /* some wait for a semaphore, or for data of a descriptor: these may come from elsewhere */
	XC_HANG_LIKELY, /* all wait for what only a thread of this process can do: signal, set a result, unlock, end */
};

/* Does every thread wait for another one, without a timeout? */
enum xc_hang xc_hang_of(struct xc_process *process);

/* The same where one thread does not count: it runs, but does nothing for the others. */
enum xc_hang xc_hang_without(struct xc_process *process, const struct xc_thread *except);

/* Set the class deadlock (kind "all wait", likely) where another process killed such a program, asked it for a core, or
 * it runs; also where a function called a watchdog aborted it, whose own thread then does not count. A guess does not
 * replace a class, but is evidence. Call it after xc_deadlock_classify: a cycle of locks says more. */
void xc_hang_classify(struct xc_crash_context *crash);

#endif
