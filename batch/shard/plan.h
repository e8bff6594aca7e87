/* plan: the cores that several machines will examine, written down once, so that the machines divide them evenly and
 * agree even if cores come and go.
 *
 *	{"schema":"xcore.plan/1","manifest":"…","cores":480,"bytes":7301444403}
 *	{"path":"…","size":15204352}            one line per core, by path
 *
 * Shards are bins of about equal work: cores in order of size, each into the bin with the least work so far (LPT). The
 * bins depend only on the plan and the number of shards, so one plan serves any number. A plan is read as hostile
 * text. */
#ifndef XC_PLAN_H
#define XC_PLAN_H

#include <stdio.h>

#include "batch/input/input.h"
#include "batch/shard/shard.h"

#define XC_PLAN_SCHEMA "xcore.plan/1"

struct xc_plan {
	const char *manifest;   /* xc_records_manifest of the inputs */
	struct xc_input *cores; /* by path; only path and size are set */
	size_t count;
};

/* Writes the plan for these inputs, which are sorted by path. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_plan_write(const struct xc_inputs *inputs, FILE *out);

/* Reads a plan into the arena. Errors: those of opening; XC_ERR_FORMAT, also if it was truncated or edited, which its
 * manifest shows. */
XC_MUST_CHECK struct xc_error *xc_plan_read(const char *path, struct xc_arena *arena, struct xc_plan *plan_out);

/* The inputs of a shard, by path. A planned core that was not found is an input that cannot be opened, so that it is
 * reported. A found core that is not planned is newer and waits for the next plan. The array is in the arena. Cost: n
 * log n. */
void xc_plan_inputs(const struct xc_plan *plan, const struct xc_shard *shard, const struct xc_inputs *found,
		    struct xc_arena *arena, const struct xc_input ***inputs_out, size_t *count_out);

#endif
