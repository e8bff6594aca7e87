/* lock_name: the source name of a lock. */
#ifndef XC_LOCK_NAME_H
#define XC_LOCK_NAME_H

#include "triage/locks/lock.h"

/* Set name and is_expression of the lock that a thread waits for: a static variable and its field, a variable of the
 * waiting frames and the field that it leads to, else a symbol, else the address. One unwinder of the process serves
 * all calls. */
void xc_lock_name_find(struct xc_process *process, const struct xc_wait *wait, struct xc_unwinder *unwinder,
		       struct xc_lock *lock);

/* The source name of the condition, semaphore, barrier or similar that a thread waits for; NULL when it is not
 * known. In the process's arena. */
const char *xc_lock_name_expression(struct xc_process *process, const struct xc_wait *wait);

/* The name of the lock at the address for a wait of which place, frame, thread and kind are set: by a static variable,
 * or by those of the frame and its callers. NULL when none leads to it. */
const char *xc_lock_name_at(struct xc_process *process, const struct xc_wait *wait, struct xc_unwinder *unwinder,
			    xc_addr addr);

/* Give locks that share the name of a local variable names that tell them from each other: those by which a static
 * variable leads there, "shards[0]->lock"; else the holder's own name, in held_name. The locks have their names and
 * holders. */
void xc_lock_name_settle(struct xc_process *process, struct xc_locks *locks, struct xc_unwinder *unwinder);

#endif
