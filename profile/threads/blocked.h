/* blocked: where threads are blocked and what they wait for, read through /proc while they wait.
 *
 *  scheduler's counts ─→ system call, sp, pc ─→ unwound from memory ─→ counts again: equal, so it has not run between
 *
 * A thread that runs has no registers that /proc would show. */
#ifndef XC_BLOCKED_H
#define XC_BLOCKED_H

#include "core/live/live_facts.h"
#include "core/perf/call_reader.h"
#include "profile/data/stack_store.h"
#include "profile/threads/wait_targets.h"

/* A thread to look at, and what was seen. */
struct xc_blocked_thread {
	pid_t tid;
	enum xc_blocked_state {
		XC_BLOCKED_RUNS, /* on a CPU, or waiting for one */
		XC_BLOCKED_WAITS,
		XC_BLOCKED_MOVED, /* it ran while it was looked at, or the reader has ended: nothing is known */
		XC_BLOCKED_ENDED,
	} state;
	struct xc_live_schedule schedule; /* before the look; of one that waits after it too */
	/* Of one that waits: */
	uint32_t stack;
	struct xc_wait_target target;
};

struct xc_blocked {
	struct xc_process *process;
	struct xc_call_reader *reader; /* owned */
	struct xc_sample_unwinder *unwinder;
	struct xc_stack_store *store;
	struct xc_wait_targets *targets;
	struct xc_sample_stack stack;  /* of the thread being looked at */
	uint64_t looks, moved, unkept; /* unkept: stacks that the store had no room for */
	uint64_t ends[XC_SAMPLE_ENDS];
	bool blind;    /* the reader has ended: nothing is seen any more */
	bool unmapped; /* a stack or its code lay in no known mapping: mappings should be read again */
};

/* Call it before the sandbox. All but the reader is borrowed. Errors: those of xc_call_reader_start. */
XC_MUST_CHECK struct xc_error *xc_blocked_new(struct xc_process *process, struct xc_sample_unwinder *unwinder,
					      struct xc_stack_store *store, struct xc_wait_targets *targets,
					      struct xc_blocked **blocked_out);
void xc_blocked_free(struct xc_blocked *blocked); /* NULL is fine */

/* Look at `count` threads, at most XC_CALL_BATCH. Cost: some 30 us and the unwinding of each that waits. */
void xc_blocked_look(struct xc_blocked *blocked, struct xc_blocked_thread *threads, size_t count);

#endif
