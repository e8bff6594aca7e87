/* waits: what each thread waits for: which lock, condition, thread, descriptor, time.
 *
 * There are three sources: the system call of the thread with its arguments (core: from its registers, live: from
 * /proc), the functions of the C library on its stack, and the words in memory that the call names. A thread in a
 * signal handler waits for what it waited for when the signal arrived, unless the handler itself waits for another
 * thread. */
#ifndef XC_WAITS_H
#define XC_WAITS_H

#include "triage/waits/wait.h"

/* The waits of all threads, computed once; they live as long as the process. Unwinds every stack, at most
 * XC_WAIT_FRAMES of it. */
const struct xc_waits *xc_waits_of(struct xc_process *process);

/* What one thread waits for, looked at by itself, now: its registers, its system call and the memory of its stack must
 * be of one instant. Unwinds its stack. */
void xc_waits_look(struct xc_process *process, const struct xc_thread *thread, struct xc_wait *wait_out);

/* The wait of a thread; NULL when there is none. O(log n). */
const struct xc_wait *xc_waits_thread(const struct xc_waits *waits, pid_t tid);

#endif
