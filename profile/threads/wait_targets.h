/* wait_targets: what sampled threads waited for: a lock with its owner, a file or socket, a timer, a CPU. Each is a
 * text, kept once. */
#ifndef XC_WAIT_TARGETS_H
#define XC_WAIT_TARGETS_H

#include "core/perf/perf_record.h"
#include "core/process/process.h"

struct xc_wait_targets;

/* Borrows the process. Reads the kernel's symbols, some 10 MB of text, and the names of the process's descriptors,
 * which a sandbox would forbid. */
struct xc_wait_targets *xc_wait_targets_new(struct xc_process *process);
void xc_wait_targets_free(struct xc_wait_targets *targets); /* NULL is fine */

/* What a thread waits for. */
struct xc_wait_target {
	uint32_t text;      /* its number, from 1 on */
	bool looped;        /* by epoll, poll or select, on a descriptor at least */
	xc_addr owner_word; /* of a lock (xc_wait_owner_word); 0: it has none */
};

/* What the thread of this sample waits for. `stack`: the number of its stack, for which the answer is remembered.
 * Unwinds the stack when stack and argument are new. */
struct xc_wait_target xc_wait_targets_find(struct xc_wait_targets *targets, const struct xc_perf_record *sample,
					   uint32_t stack, bool preempted);

/* The same of a thread that sleeps, whose registers, system call and state are known. */
struct xc_wait_target xc_wait_targets_of_thread(struct xc_wait_targets *targets, const struct xc_thread *thread,
						uint32_t stack);

/* The thread has moved while it was looked at: what was remembered last for it may be wrong, and is forgotten. */
void xc_wait_targets_forget(struct xc_wait_targets *targets, const struct xc_thread *thread, uint32_t stack);

/* Does the thread of the sample wait by a futex? */
bool xc_wait_targets_is_futex(const struct xc_wait_targets *targets, const struct xc_perf_record *sample);

/* The thread that holds the lock now; 0: there is none, or it is not known. */
pid_t xc_wait_targets_owner(struct xc_wait_targets *targets, xc_addr owner_word);

/* The text of a wait with the owner of its lock: "mutex `queue.lock`, held by thread 17". owner 0: without. */
uint32_t xc_wait_targets_held(struct xc_wait_targets *targets, uint32_t text, pid_t owner);

/* That of waits that were neither sampled nor looked at. */
uint32_t xc_wait_targets_unseen(struct xc_wait_targets *targets);

/* That of a thread that was preempted; or `queued`: that could run, preempted or not. */
uint32_t xc_wait_targets_cpu(struct xc_wait_targets *targets, bool queued);

/* That of a thread whose wait began before the profile. */
uint32_t xc_wait_targets_early(struct xc_wait_targets *targets);

/* Its text: "mutex `queue.lock`, held by thread 17". Valid until the free. */
const char *xc_wait_targets_text(const struct xc_wait_targets *targets, uint32_t number);

/* Does a thread that waits for it look for work: does it poll, or wait by epoll or select? */
bool xc_wait_targets_is_event_loop(const struct xc_wait_targets *targets, uint32_t number);

size_t xc_wait_targets_count(const struct xc_wait_targets *targets);

#endif
