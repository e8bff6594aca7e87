/* batch: many cores, a worker each, some of them at once; records in the order in which they are finished. */
#ifndef XC_BATCH_H
#define XC_BATCH_H

#include "batch/sandbox/worker.h"

/* Takes a finished record, which is the arena's. Errors end the batch. */
typedef struct xc_error *xc_batch_fn(void *user, const struct xc_input *input, struct xc_record *record);

struct xc_batch {
	struct xc_worker_options
		worker; /* without a fork server one is started: then a worker may know what this process knows now */
	unsigned jobs;  /* workers at once; 0: one per processor */
	struct xc_progress *progress; /* counts cores; may be NULL */
	struct xc_arena *arena;       /* of the records */
	xc_batch_fn *take;
	void *user;
};

/* Examine inputs[0 .. count), after a probe (sandbox_probe.h). One whose memory runs out, or whose worker dies of a fault, is examined once more
 * without its heap, with the whole time again; one whose worker was hindered once more in the end, alone: hindered again, its record is
 * `unlooked`. Where processes or descriptors are short, fewer run at once. Returns when all are done, or at the first error of `take` or of
 * the environment (no worker can be started, none can enter the sandbox); workers that still run are then ended. *done_out says how many were
 * finished: fewer than count, without an error, after an interruption. Raises the limit of descriptors to what it may be. */
XC_MUST_CHECK struct xc_error *xc_batch_run(const struct xc_batch *batch, const struct xc_input *const *inputs,
					    size_t count, size_t *done_out);

#endif
