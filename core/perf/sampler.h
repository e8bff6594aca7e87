/* sampler: samples every thread of a running process, by its CPU time or when it waits, from outside.
 *
 * The kernel takes the samples (perf_event.h) and writes them into one ring for each processor; threads that begin
 * later are sampled too, because events are inherited. Nobody is stopped, and nothing is put into the target. The
 * rights to open events are needed at the start only, so a sandbox may follow it. Not thread-safe. */
#ifndef XC_SAMPLER_H
#define XC_SAMPLER_H

#include "core/perf/perf_event.h"
#include "core/perf/perf_record.h"

struct xc_sampler_options {
	unsigned hz;                           /* samples per second of CPU time of each thread, 1 to 10,000 */
	const struct xc_perf_counter *counter; /* instead of CPU time; NULL */
	bool no_cpu;                           /* no samples by CPU time, */
	bool waits;                            /* but, or besides, those of threads that leave their processor */
	uint32_t stack;                        /* bytes of stack copied with each; 0: by the rate */
	bool no_kernel;                        /* not while a thread is in the kernel, even where that is allowed */
	bool children;                         /* follow processes that it forks */
	const pid_t *tids; /* sample these threads only; borrowed until the start returns; NULL: all */
	size_t tid_count;
	bool few; /* a few samples are enough: the rings are small */
};

/* What became of the samples. */
struct xc_sampler_counts {
	uint64_t samples; /* handed out */
	uint64_t lost;    /* overwritten before they were read, as the kernel counts */
	uint64_t throttled;
	uint64_t malformed;
	uint64_t events;        /* that the counter has counted, sampled or not; 0 without one */
	size_t threads;         /* with events of their own, at the start */
	size_t threads_missing; /* for which there was no descriptor left */
	bool execed;            /* the process executed another program */
};

struct xc_sampler;

/* Begin to sample. task_dir is /proc/PID/task, open, borrowed until the call returns. Errors: those of xc_perf_choose
 * and xc_perf_ring_map; XC_ERR_NOT_FOUND when the process has ended. */
XC_MUST_CHECK struct xc_error *xc_sampler_start(int task_dir, const struct xc_sampler_options *options,
						struct xc_sampler **sampler_out);

/* How samples are taken: `wanted` less what this host refuses. */
const struct xc_perf_setup *xc_sampler_setup(const struct xc_sampler *sampler);

/* Wait until a ring is half full, a signal comes, or `us` microseconds have passed. */
void xc_sampler_wait(struct xc_sampler *sampler, uint64_t us);

/* Wait for the next sample, for a reader that wants each as soon as it is taken: until it is there, or `us`
 * microseconds have passed, or another look is worth while. `spins`: for some 100 us around the time when it is due,
 * which is sooner where a processor is idle, and takes the time of those that are not. */
void xc_sampler_wait_next(struct xc_sampler *sampler, uint64_t us, bool spins);

/* Hand every record that was written before now to `take`, those of all processors in the order of time. Ends also when
 * records come faster than they are taken: at most as many as fill the rings. */
typedef void xc_sampler_take(void *ctx, const struct xc_perf_record *record);
void xc_sampler_drain(struct xc_sampler *sampler, xc_sampler_take *take, void *ctx);

/* Drop what was sampled so far; nor does it count. */
void xc_sampler_skip(struct xc_sampler *sampler);

/* End sampling: what is in the rings can still be drained. */
void xc_sampler_stop(struct xc_sampler *sampler);

struct xc_sampler_counts xc_sampler_counts(const struct xc_sampler *sampler);

void xc_sampler_free(struct xc_sampler *sampler); /* NULL is fine */

#endif
