/* signature_merge: one block per class group; blocks are independent. */
#include "batch/problems/signature_merge.h"

#include <stdlib.h>
#include <string.h>

#include "batch/cluster/cluster.h"
#include "batch/cluster/tailcall_merge.h"

#define CUT 0.3

struct sorted {
	const struct xc_signature_group *group;
	size_t index;
};

static int by_class_group(const void *a, const void *b)
{
	const struct sorted *left = a, *right = b;
	int d = strcmp(left->group->best->signature->class_group, right->group->best->signature->class_group);
	return d ? d : (left->index > right->index) - (left->index < right->index);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;
	return (*left > *right) - (*left < *right);
}

/* The build of the module where it crashed. */
static const char *build_of(const struct xc_problem_member *member)
{
	size_t first = member->signature->kept[0];
	return member->record->frames[first].build_id;
}

static struct xc_observed_trace observed_of(struct xc_tracer *tracer, const struct xc_signature_group *group)
{
	uint32_t *builds = xc_arena_alloc(&tracer->arena, group->count * sizeof *builds);
	struct xc_observed_trace observed = {
		.trace = xc_trace_make(tracer, group->best->record, group->best->signature),
		.program = xc_trace_name(tracer, group->best->signature->program),
		.builds = builds,
		.whole = group->best->signature->complete,
	};
	for (size_t i = 0; i < group->count; i++)
		if (build_of(group->members[i]))
			builds[observed.build_count++] = xc_trace_name(tracer, build_of(group->members[i]));
	qsort(builds, observed.build_count, sizeof *builds, by_number);
	return observed;
}

static void cluster_class_group(const struct sorted *block, size_t count, double cut, size_t *firsts_out)
{
	struct xc_tracer tracer = {0};
	struct xc_observed_trace *observed = xc_alloc(count * sizeof *observed);
	size_t *firsts = xc_alloc(count * sizeof *firsts);
	for (size_t i = 0; i < count; i++)
		observed[i] = observed_of(&tracer, block[i].group);
	xc_cluster(observed, count, tracer.count, cut, firsts);
	xc_tailcall_merge(observed, count, firsts);
	for (size_t i = 0; i < count; i++)
		firsts_out[block[i].index] = block[firsts[i]].index;
	free(observed);
	free(firsts);
	xc_tracer_fini(&tracer);
}

void xc_signature_merge(const struct xc_signature_group *groups, size_t count, double cut, size_t *firsts_out)
{
	struct sorted *sorted = xc_alloc((count + 1) * sizeof *sorted);
	size_t compared = 0;
	for (size_t i = 0; i < count; i++) {
		firsts_out[i] = i;
		if (!xc_signature_is_weak(groups[i].best->signature))
			sorted[compared++] = (struct sorted){&groups[i], i};
	}
	qsort(sorted, compared, sizeof *sorted, by_class_group);
	for (size_t i = 0, end; i < compared; i = end) {
		for (end = i + 1; end < compared && !strcmp(sorted[i].group->best->signature->class_group,
							    sorted[end].group->best->signature->class_group);)
			end++;
		cluster_class_group(sorted + i, end - i, cut > 0 ? cut : CUT, firsts_out);
	}
	free(sorted);
}
