/* wait_targets: what sampled threads waited for: a lock with its owner, a file or socket, a timer, a CPU. Each is a text,
 * kept once. */
#ifndef XC_WAIT_TARGETS_H
#define XC_WAIT_TARGETS_H

#include "core/perf/perf_record.h"
#include "core/process/process.h"

struct xc_wait_targets;

/* Borrows the process. Reads the kernel's symbols, some 10 MB of text, and the names of the process's descriptors, which a
 * sandbox would forbid. */
struct xc_wait_targets *xc_wait_targets_new(struct xc_process *process);
void xc_wait_targets_free(struct xc_wait_targets *targets); /* NULL is fine */

/* The number, from 1 on, of what the thread of this sample waits for. `stack`: the number of its stack, for which the
 * answer is remembered. Unwinds the stack when stack and argument are new. */
uint32_t xc_wait_targets_find(struct xc_wait_targets *targets, const struct xc_perf_record *sample, uint32_t stack,
			      bool preempted);

/* The same of a thread that sleeps, whose registers and system call are known. */
uint32_t xc_wait_targets_of_thread(struct xc_wait_targets *targets, const struct xc_thread *thread);

/* That of a thread whose wait began before the profile. */
uint32_t xc_wait_targets_early(struct xc_wait_targets *targets);

/* Its text: "mutex `queue.lock`, held by thread 17". Valid until the free. */
const char *xc_wait_targets_text(const struct xc_wait_targets *targets, uint32_t number);

/* Does a thread that waits for it look for work: does it poll, or wait by epoll or select? */
bool xc_wait_targets_is_event_loop(const struct xc_wait_targets *targets, uint32_t number);

size_t xc_wait_targets_count(const struct xc_wait_targets *targets);

#endif
