/* profile: where the threads of a running process spend their time, on a CPU or waiting: samples, unwound as they come,
 * and only their stacks kept. There are three ways, of which the best that this host allows is taken:
 *
 *	samples of the kernel, as threads run and as they begin to wait
 *	samples as they run, outside the kernel; records of when they wait, and looks at them meanwhile (blocked.h)
 *	looks at /proc alone (polling.h), where perf events are refused: the stacks of those that wait */
#ifndef XC_PROFILE_H
#define XC_PROFILE_H

#include "core/perf/sampler.h"
#include "core/process/process.h"
#include "profile/threads/blocked.h"
#include "profile/data/slices.h"
#include "profile/threads/polling.h"
#include "profile/data/stack_store.h"
#include "profile/threads/thread_names.h"
#include "profile/threads/waiting.h"
#include "profile/read_delays.h"

enum xc_profile_clock { XC_CLOCK_CPU, XC_CLOCK_OFF, XC_CLOCK_WALL };

struct xc_profile_options {
	struct xc_sampler_options sampler; /* `waits` and `no_cpu` are set by the clock */
	enum xc_profile_clock clock;
	bool any_clock;   /* without perf events the wall clock, which shows more than none of the CPU's stacks */
	pid_t tid;        /* this thread only; 0: all */
	bool guests_only; /* only frames of interpreted languages, and their compiled code, are kept */
	const char *by; /* the dimension that samples are told apart by besides: "cpu", or one of a plugin, whose guest
			     tells it; borrowed; NULL: none */
};

/* Samples with one stack in one thread; of tid 0, of threads that were not told apart, because there are too many. Each
 * stands for one period: of CPU time, or of waiting. */
struct xc_profile_count {
	uint32_t stack; /* number in the store */
	uint32_t what;  /* what is waited for: index into `whats`, plus one; 0: it runs */
	pid_t tid;
	uint64_t samples;
	uint64_t squares; /* of what was added each time, summed; UINT64_MAX: too large */
};

struct xc_profile {
	struct xc_process *process; /* borrowed */
	struct xc_profile_options options;
	uint64_t period_ns;
	struct xc_sampler *sampler; /* NULL: looks only */
	struct xc_error *refused;   /* why there is none */
	bool sees_kernel;
	struct xc_sampler_counts sampled; /* at the end */
	struct xc_blocked *blocked;       /* NULL: no looks are needed */
	struct xc_polling polling;
	uint64_t due_ns;     /* when the next tick of that is */
	uint64_t checked_ns; /* when the process was seen to be there */
	struct xc_thread_names names;
	struct xc_sample_unwinder *unwinder;
	struct xc_sample_stack *stack; /* of the sample being unwound */
	struct xc_stack_store store;
	struct xc_sample_values cpus;
	const struct xc_sample_values *values; /* of `by`; NULL: there are none */
	struct xc_profile_count *counts;       /* in the order of first sight */
	size_t count, count_capacity;
	struct xc_hashtable by_stack; /* (stack and what, tid) → index into counts, plus one */
	struct xc_slices slices;      /* of the counts */
	struct xc_waiting waiting;
	struct xc_wait_targets *targets; /* NULL: waits are not sampled */
	uint64_t wait_samples;
	uint64_t samples; /* unwound; of a counter the events that they stand for */
	uint64_t unwound; /* samples, each as one */
	uint64_t ends[XC_SAMPLE_ENDS];
	uint64_t late, in_kernel, unwind_ns;
	uint64_t guests, torn; /* stacks with frames of interpreted languages, and those of them that were torn */
	uint64_t torn_whole;   /* of which not even the innermost such frame is known */
	struct xc_read_delays delays;  /* of stacks of CPU time with such frames */
	unsigned guest_cpu;            /* where the last of them ran */
	bool real_time;                /* they were read in real time, to the end (reader_priority.h) */
	uint64_t unread;               /* samples that were not unwound: the time was over */
	uint64_t unkept;               /* stacks of which the inner part is not kept: the store is full */
	uint64_t started_ns, ended_ns; /* of CLOCK_MONOTONIC */
	uint64_t until_ns;             /* when unwinding ends */
	const volatile int *interrupted;
	uint64_t deep_ns; /* when a stack was last seen that the copy did not hold; 0: never */
	uint64_t user_before_ns, system_before_ns;
	uint64_t user_ns, system_ns; /* CPU time of the process meanwhile, as /proc tells in ticks of 10 ms */
	bool times_known;
	uint64_t next_remap_ns; /* not before that: mappings are read again */
	uint64_t remap_ns;      /* what that took last */
	bool maps_changed;      /* code was mapped since the mappings were read */
	uint64_t last_ns;       /* the time of the last record */
	uint64_t forks;         /* processes that the process has forked */
	bool gone;              /* the process ended or executed another program */
};

/* Begin to sample a live process. The rights are needed here only, so a sandbox may follow. Errors: those of
 * xc_sampler_start. */
XC_MUST_CHECK struct xc_error *xc_profile_start(struct xc_process *process, const struct xc_profile_options *options,
						struct xc_profile **profile_out);

/* Look for frames of interpreted languages, too; borrowed. What was sampled before, while they were prepared, does not
 * count. */
void xc_profile_guests(struct xc_profile *profile, struct xc_sample_guest *guest);

/* Unwind samples as they come, for `ns` nanoseconds from the start on, or until *interrupted is not 0 or the process
 * has gone; then end sampling. Samples that are not unwound a second later are only counted: the target decides how
 * long its stacks are. */
void xc_profile_run(struct xc_profile *profile, uint64_t ns, const volatile int *interrupted);

/* Sample until then, by CLOCK_MONOTONIC, and do not end it: for a profile of laps. Returns early as xc_profile_run. */
void xc_profile_sample(struct xc_profile *profile, uint64_t until_ns, const volatile int *interrupted);

void xc_profile_free(struct xc_profile *profile); /* NULL is fine */

#endif
