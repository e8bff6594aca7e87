/* queued: work that nobody takes, in queues of a process in which every thread waits. */
#ifndef XC_QUEUED_H
#define XC_QUEUED_H

#include "triage/crash/crash_context.h"
#include "triage/waits/wait.h"

struct xc_queued {
	size_t left; /* queues that may still be told */
	bool pool;   /* it was told that the workers wait */
};

/* Report as evidence that a queue of C++ still holds elements, in an object of the functions on the stack of a thread
 * that waits; and where that thread is one that the program started, and has the queue in a function outside of the one
 * that waits for a result: that it perhaps waits, in a task, for one that is queued behind it. Unwinds 48 frames. */
void xc_queued_report(struct xc_crash_context *crash, const struct xc_wait *wait, struct xc_queued *queued);

#endif
