/* batch: examines many cores, each in a worker, several at a time. Records come in the order in which they finish. */
#ifndef XC_BATCH_H
#define XC_BATCH_H

#include "batch/sandbox/worker.h"

/* Receives a finished record, allocated in the arena. An error ends the batch. */
typedef struct xc_error *xc_batch_fn(void *user, const struct xc_input *input, struct xc_record *record);

struct xc_batch {
	/* if it has no fork server, one is started: its workers then know what this process knows by now */
	struct xc_worker_options worker;
	unsigned jobs;                /* workers at once; 0: one per processor */
	struct xc_progress *progress; /* counts cores; may be NULL */
	struct xc_arena *arena;       /* holds the records */
	xc_batch_fn *take;
	void *user;
};

/* Examines inputs[0 .. count), after a sandbox probe (sandbox_probe.h). If a worker runs out of memory or dies of a
 * fault, its core is examined again without its heap, with the full time limit. If a worker was hindered, its core is
 * examined again at the end, alone; if hindered again, its record is `unlooked`. When processes or descriptors are
 * short, fewer workers run at once. Returns when all are done, or at the first error of `take` or of the environment
 * (no worker can be started, or none can enter the sandbox); workers still running are then ended. *done_out is the
 * number finished; after an interrupt it is less than count, without an error. Raises the soft limit of descriptors up
 * to the hard limit. */
XC_MUST_CHECK struct xc_error *xc_batch_run(const struct xc_batch *batch, const struct xc_input *const *inputs,
					    size_t count, size_t *done_out);

#endif
