/* lock_holder: likely holders of locks that do not record them: Rust's, one-time initializations, readers, the C
 * library's own. */
#ifndef XC_LOCK_HOLDER_H
#define XC_LOCK_HOLDER_H

#include "triage/locks/lock.h"

/* Set holder and why of such locks from evidence on the stacks: a guard variable, a function that runs for the lock,
 * a handler that interrupted its holder. Where several threads fit an exclusive lock, no holder is set. Unwinds the
 * stacks once, when there are such locks. Reports limits that were reached in locks->limits. */
void xc_lock_holder_guess(struct xc_process *process, struct xc_locks *locks);

#endif
