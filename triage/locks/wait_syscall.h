/* wait_syscall: the system call that a thread sleeps in, and which lock, condition or thread its arguments name. */
#ifndef XC_WAIT_SYSCALL_H
#define XC_WAIT_SYSCALL_H

#include "triage/locks/wait_stack.h"

/* The name of the call that the thread sleeps in; NULL: none, or not known. In the process's arena. */
const char *xc_wait_syscall_name(struct xc_process *process, const struct xc_thread *thread);

/* Set what the call tells of a wait whose kind the functions on the stack have told, as far as they could: word, object, target, whether it is
 * timed; XC_WAIT_NONE when the thread does not sleep after all. The walk is of its thread; without frames, too. */
void xc_wait_syscall_find(struct xc_wait_stack *walk, struct xc_wait *wait);

#endif
