/* lock_holder: who likely has a lock that records no owner: Rust's, one-time initializations, those of readers, the C library's own. */
#ifndef XC_LOCK_HOLDER_H
#define XC_LOCK_HOLDER_H

#include "triage/locks/lock.h"

/* Set holder and why of such locks, as far as the stacks tell: a variable that guards it, a function that runs for it, a handler that broke
 * into what has it. Where several threads fit, of locks that one has alone, nobody is named. Unwinds the stacks once, when there are any; what was left out is told in locks->limits. */
void xc_lock_holder_guess(struct xc_process *process, struct xc_locks *locks);

#endif
