/* locks: mutexes and reader-writer locks that threads wait for, who holds them, and who waits for whom in a circle. */
#ifndef XC_LOCKS_H
#define XC_LOCKS_H

#include "triage/locks/lock.h"

/* Worked out once; lives as long as the process. A cycle of a live process is one only when none of its threads has run since its
 * call was looked at. */
const struct xc_locks *xc_locks_of(struct xc_process *process);

#endif
