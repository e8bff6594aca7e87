/* waiting: how long threads are off their processors, and where: pairs of the record that a thread leaves its processor
 * and that of its coming back. Where a wait is, one of two things tells:
 *
 *	the sample that the kernel takes as the thread leaves ─→ kept, with its stack
 *	a look at the thread while it waits (blocked.h) ─→ kept, if the thread came back only after the look
 *
 *	coming back: the length ─→ added up for the thread
 *	each time the sum passes a period ─→ handed out with the wait that it passed in
 *
 * So many short waits count as much as few long ones, and a stack is unwound once a period, not at each switch. Memory:
 * the copied stack of each thread that waits; threads that begin later leave nothing when they end. */
#ifndef XC_WAITING_H
#define XC_WAITING_H

#include "core/base/hashtable.h"
#include "core/perf/perf_record.h"
#include "dwarf/sample/sample_stack.h"

/* What was seen of a wait while it went on. */
struct xc_waiting_look {
	bool done;            /* it was tried */
	uint64_t at_ns;       /* when it ended, in the wait that it began in; 0: it shows nothing */
	uint32_t stack, what; /* as the looker numbers them */
	enum xc_sample_end end;
	bool late;
	xc_addr owner_word; /* of the lock that is waited for; 0: none */
	unsigned owners;    /* looks at it */
	pid_t owner;        /* at one of those; 0: not known */
	uint64_t owner_ns;  /* when that one ended */
};

enum xc_waiting_kind {
	XC_WAITED,
	XC_WAIT_PREEMPTED, /* it could have gone on */
	XC_WAIT_UNSEEN,    /* neither a sample nor a look tells where */
	XC_WAITING_KINDS,
};

struct xc_waiting_thread {
	pid_t tid;
	bool waits, preempted, left;
	uint64_t begun_ns; /* of the wait */
	uint64_t back_ns;  /* when it came back without having left: it was away from before; 0: it did not */
	struct xc_perf_record sample; /* pointers lead into bytes */
	uint64_t *bytes;              /* owned */
	size_t capacity;              /* of bytes, in words */
	struct xc_waiting_look look;
	uint64_t sums[XC_WAITING_KINDS]; /* not handed out yet: ns */
};

/* What becomes of a wait. periods: of waiting. */
typedef void xc_waiting_take(void *ctx, const struct xc_waiting_thread *thread, enum xc_waiting_kind kind,
			     uint64_t periods);

/* Look at a thread that waits, and fill or renew thread->look. */
typedef void xc_waiting_look_at(void *ctx, struct xc_waiting_thread *thread);

struct xc_waiting {
	uint64_t period_ns;
	bool sampled;    /* there is a sample for each wait */
	uint64_t random; /* the state of a generator, by which first periods of threads differ; 0: they do not */
	xc_waiting_take *take;
	void *ctx;
	struct xc_waiting_thread *threads;
	size_t thread_count, thread_capacity;
	size_t *unused; /* indexes of those that have ended */
	size_t unused_count, unused_capacity;
	struct xc_hashtable by_tid;
	uint64_t spent_ns[XC_WAITING_KINDS], counts[XC_WAITING_KINDS]; /* of all threads */
	uint64_t unpaired;                                             /* whose end was lost */
	size_t next_look;                                              /* index of the thread */
};

void xc_waiting_init(struct xc_waiting *waiting, uint64_t period_ns, bool sampled, xc_waiting_take *take, void *ctx);
void xc_waiting_fini(struct xc_waiting *waiting);

/* A sample that was taken when its thread left the processor, or a switch. In the order of time. O(1), and the bytes of
 * the stack. */
void xc_waiting_add(struct xc_waiting *waiting, const struct xc_perf_record *record);

/* Records were lost: what was seen of waits may be of earlier ones. */
void xc_waiting_lost(struct xc_waiting *waiting);

/* Look at the threads that have waited for `least_ns` at least, until until_ns: then the others are the first next
 * time. O(threads). */
void xc_waiting_look(struct xc_waiting *waiting, uint64_t least_ns, uint64_t until_ns, xc_waiting_look_at *look);

/* The thread begins now: it has not waited before. */
void xc_waiting_fork(struct xc_waiting *waiting, pid_t tid);

/* The thread has ended, and its wait with it. */
void xc_waiting_exit(struct xc_waiting *waiting, pid_t tid);

/* The waits that go on count until now, and go on. */
void xc_waiting_split(struct xc_waiting *waiting, uint64_t now_ns);

/* The waits that go on end now. */
void xc_waiting_end(struct xc_waiting *waiting, uint64_t now_ns);

/* Has the thread left its processor, or come back, at least once? */
bool xc_waiting_knows(const struct xc_waiting *waiting, pid_t tid);

/* When the thread came back from a wait whose begin was not seen; 0: it did not. */
uint64_t xc_waiting_back(const struct xc_waiting *waiting, pid_t tid);

/* Count a wait of a thread that was not seen. Returns the number of periods. */
uint64_t xc_waiting_count(struct xc_waiting *waiting, uint64_t ns);

#endif
