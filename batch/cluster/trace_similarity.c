/* trace_similarity: the rules come first, because most pairs fail them and they are quick. */
#include "batch/cluster/trace_similarity.h"

enum {
	INLINED = 2, /* frames that may be missing at the top, in another build */
	SHARED = 5,  /* frames that two programs must have in common */
};

/* Did both occur in one build? Assumed if the builds are unknown. */
static bool share_build(const struct xc_observed_trace *one, const struct xc_observed_trace *other)
{
	if (!one->build_count || !other->build_count)
		return true;
	for (size_t i = 0, k = 0; i < one->build_count && k < other->build_count;) {
		if (one->builds[i] == other->builds[k])
			return true;
		if (one->builds[i] < other->builds[k])
			i++;
		else
			k++;
	}
	return false;
}

/* Is the frame among the first ones of the trace? */
static bool begins_with(const struct xc_trace *trace, uint32_t frame, size_t limit)
{
	for (size_t i = 0; i < trace->count && i < limit; i++)
		if (trace->frames[i] == frame)
			return true;
	return false;
}

/* In one build, two complete stacks with different callers: a helper (die(), list_first()) in which several bugs
 * end. */
static bool differ_in_caller(const struct xc_observed_trace *one, const struct xc_observed_trace *other)
{
	const struct xc_trace *a = &one->trace, *b = &other->trace;
	return one->whole && other->whole && a->count > 1 && b->count > 1 && a->frames[1] && b->frames[1] &&
	       a->frames[1] != b->frames[1];
}

static bool same_place(const struct xc_trace *one, const struct xc_trace *other, bool one_build)
{
	size_t limit = one_build ? 1 : 1 + INLINED;
	if (!one->count || !other->count)
		return false;
	return (one->frames[0] && begins_with(other, one->frames[0], limit)) ||
	       (other->frames[0] && begins_with(one, other->frames[0], limit));
}

uint32_t xc_trace_similarity_distance(struct xc_probe *probe, const struct xc_observed_trace *one,
				      const struct xc_observed_trace *other)
{
	const bool one_build = share_build(one, other);
	if (!same_place(&one->trace, &other->trace, one_build) || (one_build && differ_in_caller(one, other)))
		return XC_DISTANCE_ONE;
	if (one->program != other->program && xc_probe_shared(probe, &other->trace) < SHARED)
		return XC_DISTANCE_ONE;
	return xc_probe_distance(probe, &other->trace);
}
