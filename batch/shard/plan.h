/* plan: what several machines are to look at, written down once, so that they divide it evenly and agree although cores come and go.
 *
 *	{"schema":"xcore.plan/1","manifest":"…","cores":480,"bytes":7301444403}
 *	{"path":"…","size":15204352}            one line a core, by path
 *
 * Shards are bins of about the same work: cores in order of size, each into the bin that has least so far (LPT). The bins follow from the
 * plan and the number of shards alone; so one plan serves any number. A plan is read as hostile text. */
#ifndef XC_PLAN_H
#define XC_PLAN_H

#include <stdio.h>

#include "batch/input/input.h"
#include "batch/shard/shard.h"

#define XC_PLAN_SCHEMA "xcore.plan/1"

struct xc_plan {
	const char *manifest;   /* xc_records_manifest of the inputs */
	struct xc_input *cores; /* by path; each has path and size only */
	size_t count;
};

/* Write the plan of these inputs, which are sorted by path. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_plan_write(const struct xc_inputs *inputs, FILE *out);

/* Read one; all of it is put into the arena. Errors: those of opening, and XC_ERR_FORMAT: also when it was cut or changed by hand, which its
 * manifest shows. */
XC_MUST_CHECK struct xc_error *xc_plan_read(const char *path, struct xc_arena *arena, struct xc_plan *plan_out);

/* The inputs of a shard, by path: what was found of them, and what was not as inputs that cannot be opened, so that they are told of and not
 * left out. What was found and is not planned came later and waits for the next plan. The array is the arena's.
 * Cost: n log n. */
void xc_plan_inputs(const struct xc_plan *plan, const struct xc_shard *shard, const struct xc_inputs *found,
		    struct xc_arena *arena, const struct xc_input ***inputs_out, size_t *count_out);

#endif
