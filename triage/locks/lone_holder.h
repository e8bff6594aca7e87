/* lone_holder: a lock of Rust that only the thread can hold which waits for it. */
#ifndef XC_LONE_HOLDER_H
#define XC_LONE_HOLDER_H

#include "triage/locks/lock.h"

/* Of locks of Rust that are held, for which one thread waits and no holder was found: set that thread as the likely
 * holder when no other thread could have a guard: when no other stack has the lock's address. Reads 8 MiB of stacks at
 * most. */
void xc_lone_holder_guess(struct xc_process *process, struct xc_locks *locks);

#endif
