/* namespace_tid: thread ids in the pid namespace of the process: the ids that its locks contain.
 *
 * An observer outside a container, through /proc or gdb's gcore, lists the threads with the ids of its own
 * namespace. */
#ifndef XC_NAMESPACE_TID_H
#define XC_NAMESPACE_TID_H

#include "triage/waits/wait.h"

/* The id in the thread descriptor at addr, the struct pthread of glibc (x86-64). 0: none, or the thread has ended. */
pid_t xc_namespace_tid_at(const struct xc_process *process, xc_addr addr);

/* Set namespace_tid of each wait, and namespace_ids and ids_are of the list, whose threads must be set. O(n log n). */
void xc_namespace_tid_find(struct xc_process *process, struct xc_waits *waits);

/* The wait of the thread with this id in the process's namespace; NULL when none is known. O(log n). */
const struct xc_wait *xc_namespace_tid_thread(const struct xc_waits *waits, pid_t id);

/* Append "thread 17", or, where the id could be mistaken for another thread of the list, "the thread with id 17 in
 * its pid namespace". */
void xc_namespace_tid_describe(const struct xc_waits *waits, pid_t id, struct xc_text *text);

#endif
