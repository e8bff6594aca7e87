/* lock_name: what the source calls a lock. */
#ifndef XC_LOCK_NAME_H
#define XC_LOCK_NAME_H

#include "triage/locks/lock.h"

/* Set name and is_expression of the lock that a thread waits for: a static variable and its field, a variable of the frames that wait
 * and the field behind it, else a symbol, else the address. One unwinder of the process serves for all. */
void xc_lock_name_find(struct xc_process *process, const struct xc_wait *wait, struct xc_unwinder *unwinder,
		       struct xc_lock *lock);

/* What the source calls the condition, semaphore, barrier or the like that a thread waits for; NULL when that is not known. In the process's arena. */
const char *xc_lock_name_expression(struct xc_process *process, const struct xc_wait *wait);

#endif
