/* locks: mutexes and reader-writer locks that threads wait for, their holders, and cycles of waiting threads. */
#ifndef XC_LOCKS_H
#define XC_LOCKS_H

#include "triage/locks/lock.h"

/* Computed once; lives as long as the process. In a live process a cycle is reported only when none of its threads
 * has run since its system call was read. */
const struct xc_locks *xc_locks_of(struct xc_process *process);

#endif
