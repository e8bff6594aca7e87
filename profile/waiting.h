/* waiting: how long threads are off their processors, and where: pairs of the sample that is taken when a thread leaves
 * its processor, and the record of its coming back.
 *
 *	sample at switch-out ─→ kept, with its stack ─→ switch-in: its length ─→ added up for the thread
 *	each time the sum passes a period ─→ handed out with the stack of the wait that it passed in
 *
 * So many short waits count as much as few long ones, and a stack is unwound once a period, not at each switch. Memory:
 * the copied stack of each thread that waits. */
#ifndef XC_WAITING_H
#define XC_WAITING_H

#include "core/base/hashtable.h"
#include "core/perf/perf_record.h"

/* What becomes of a wait. sample: as at its begin. periods: of waiting. */
typedef void xc_waiting_take(void *ctx, const struct xc_perf_record *sample, uint64_t periods, bool preempted);

struct xc_waiting_thread {
	pid_t tid;
	bool waits, preempted;
	uint64_t back_ns; /* when it came back without having left: it was away from before; 0: it did not */
	struct xc_perf_record sample; /* pointers lead into bytes */
	uint64_t *bytes;              /* owned */
	size_t capacity;              /* of bytes, in words */
	uint64_t sums[2];             /* not handed out yet, of waits and of times when it was preempted: ns */
};

struct xc_waiting {
	uint64_t period_ns;
	xc_waiting_take *take;
	void *ctx;
	struct xc_waiting_thread *threads;
	size_t thread_count, thread_capacity;
	struct xc_hashtable by_tid;
	uint64_t waited_ns, preempted_ns; /* of all threads */
	uint64_t waits, preemptions;
	uint64_t unpaired; /* whose end was lost */
};

void xc_waiting_init(struct xc_waiting *waiting, uint64_t period_ns, xc_waiting_take *take, void *ctx);
void xc_waiting_fini(struct xc_waiting *waiting);

/* A sample that was taken when its thread left the processor, or a switch. In the order of time. O(1), and the bytes of
 * the stack. */
void xc_waiting_add(struct xc_waiting *waiting, const struct xc_perf_record *record);

/* The thread has ended: what it had is freed, but its sums. */
void xc_waiting_exit(struct xc_waiting *waiting, pid_t tid);

/* The waits that go on end now. */
void xc_waiting_end(struct xc_waiting *waiting, uint64_t now_ns);

/* Has the thread left its processor, or come back, at least once? */
bool xc_waiting_knows(const struct xc_waiting *waiting, pid_t tid);

/* When the thread came back from a wait whose begin was not seen; 0: it did not. */
uint64_t xc_waiting_back(const struct xc_waiting *waiting, pid_t tid);

/* Count a wait of a thread that was not seen. Returns the number of periods. */
uint64_t xc_waiting_count(struct xc_waiting *waiting, uint64_t ns);

#endif
