/* namespace_tid: the ids by which a process itself knows its threads: those that stand in its locks.
 *
 * They are the ids of its pid namespace. Whoever looks from outside of a container, by /proc or with gdb's gcore, lists the threads by
 * those of his own. */
#ifndef XC_NAMESPACE_TID_H
#define XC_NAMESPACE_TID_H

#include "triage/locks/wait.h"

/* The id in the thread's descriptor at addr, the struct pthread of glibc (x86-64); 0: there is none, or the thread has ended. */
pid_t xc_namespace_tid_at(const struct xc_process *process, xc_addr addr);

/* Set own of each wait, and own_ids and ids_are of all, whose threads are listed. O(n log n). */
void xc_namespace_tid_find(struct xc_process *process, struct xc_waits *waits);

/* The wait of the thread that the process itself knows by this id; NULL when none is known to be it. O(log n). */
const struct xc_wait *xc_namespace_tid_thread(const struct xc_waits *waits, pid_t id);

/* Append "thread 17", or, where that might be taken for another one of the list, "the thread that calls itself 17". */
void xc_namespace_tid_describe(const struct xc_waits *waits, pid_t id, struct xc_text *text);

#endif
