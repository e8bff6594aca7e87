/* polling: where the time of all threads goes, by looks at /proc: for hosts that refuse perf events.
 *
 *	at each tick, of each thread: CPU time, time on the run queue, how often it was put on a CPU (schedstat)
 *	has it run since the last tick, and is blocked now? ─→ its stack and what it waits for (blocked.h)
 *	has it not? ─→ it has waited there all the time
 *
 * Times on CPU, in the run queue and waiting are exact sums of the kernel; how those of waiting are shared among places
 * is by samples: a thread's time of waiting since the last tick is that of the place where it is seen to wait. Where it
 * runs is not seen. Each kind is handed out in periods.
 *
 * Ticks are as often as asked, but so rare that a tenth of a CPU is enough for them. */
#ifndef XC_POLLING_H
#define XC_POLLING_H

#include "profile/threads/blocked.h"

enum xc_polling_kind {
	XC_POLL_RUNS,
	XC_POLL_QUEUED, /* it could have run, but waited for a CPU */
	XC_POLL_WAITS,
	XC_POLL_UNSEEN, /* it waited, but was not seen while it did */
	XC_POLL_KINDS,
};

struct xc_polled {
	pid_t tid;       /* 0: unused */
	uint64_t listed; /* the last tick at which it was there */
	uint64_t first_ns, seen_ns;
	struct xc_live_schedule first, last;
	bool waits;
	/* Of one that waits: */
	uint32_t stack;
	struct xc_wait_target target;
	pid_t owner;                       /* of the lock, as of the last tick; 0: not known */
	int64_t handed_out[XC_POLL_KINDS]; /* ns */
};

typedef void xc_polling_take(void *ctx, const struct xc_polled *thread, enum xc_polling_kind kind, uint64_t periods);

struct xc_polling {
	struct xc_blocked *blocked; /* borrowed */
	uint64_t period_ns;
	pid_t only; /* this thread; 0: all */
	xc_polling_take *take;
	void *ctx;
	struct xc_polled *threads;
	size_t thread_count, thread_capacity;
	size_t *unused; /* indexes */
	size_t unused_count, unused_capacity;
	struct xc_hashtable by_tid; /* → index, plus one */
	uint64_t random, ticks, last_ns;
	uint64_t spent_ns[XC_POLL_KINDS]; /* of all threads, those that have ended too */
};

void xc_polling_init(struct xc_polling *polling, struct xc_blocked *blocked, uint64_t period_ns, xc_polling_take *take,
		     void *ctx);
void xc_polling_fini(struct xc_polling *polling);

/* Look at all threads. Returns when the next tick is due, by CLOCK_MONOTONIC; 0: the process has no threads. */
uint64_t xc_polling_tick(struct xc_polling *polling);

/* The last look, after the last tick. */
void xc_polling_end(struct xc_polling *polling);

#endif
