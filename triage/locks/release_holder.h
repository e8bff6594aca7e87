/* release_holder: the holder of a mutex of Rust by the code that its functions come back to. */
#ifndef XC_RELEASE_HOLDER_H
#define XC_RELEASE_HOLDER_H

#include "triage/locks/lock.h"

/* Of mutexes of Rust that are held, and have no holder yet: set the only thread as likely that comes back to code which
 * gives the mutex back. An optimised guard may be no more than that. Looks at 4,096 threads, 16 frames of each. */
void xc_release_holder_guess(struct xc_process *process, struct xc_locks *locks);

#endif
