/* wait_syscall: the system call in which a thread sleeps, and the lock, condition or thread that its arguments name. */
#ifndef XC_WAIT_SYSCALL_H
#define XC_WAIT_SYSCALL_H

#include "triage/locks/wait_stack.h"

/* The name of the system call in which the thread sleeps; NULL: none, or not known. In the process's arena. */
const char *xc_wait_syscall_name(struct xc_process *process, const struct xc_thread *thread);

/* Refine a wait by the arguments of its system call. The kind is set from the functions on the stack, as far as they
 * are known. Sets word, object, target and timed; kind becomes XC_WAIT_NONE when the thread does not sleep. The
 * stack is that of the thread, and may be empty. */
void xc_wait_syscall_find(struct xc_wait_stack *walk, struct xc_wait *wait);

#endif
