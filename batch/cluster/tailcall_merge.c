/* tailcall_merge: an index of what short stacks become without a frame or two; a query is an exact look-up. Longer
 * stacks are joined first: what they lack, shorter ones may lack, too. */
#include "batch/cluster/tailcall_merge.h"

#include <stdlib.h>

enum {
	SHORT = 4, /* only stacks with fewer frames are joined */
	LOST = 2,
	MOST = SHORT - 1 + LOST, /* frames of a stack that is shortened */
	UNKNOWN = 0,             /* no build's number */
};

/* The remaining frames of a trace. */
struct rest {
	uint32_t program;
	uint32_t frames[SHORT - 1]; /* 0 after the end */
	size_t from;                /* index of the trace */
};

/* A build in which a cluster was seen. */
struct sight {
	size_t cluster; /* its first trace */
	uint32_t build;
};

struct joining {
	const struct xc_observed_trace *observed;
	size_t count, *firsts;
	struct rest *rests; /* sorted */
	size_t rest_count, rest_capacity;
	/* The state before the stacks of the current length were joined. */
	size_t *roots;        /* by trace: the first of its cluster */
	struct sight *sights; /* sorted */
	size_t sight_count, sight_capacity;
};

static int by_frames(const struct rest *a, const struct rest *b)
{
	if (a->program != b->program)
		return a->program < b->program ? -1 : 1;
	for (size_t i = 0; i < XC_COUNT(a->frames); i++)
		if (a->frames[i] != b->frames[i])
			return a->frames[i] < b->frames[i] ? -1 : 1;
	return 0;
}

static int by_all(const void *a, const void *b)
{
	const struct rest *left = a, *right = b;
	int d = by_frames(left, right);
	return d ? d : (left->from > right->from) - (left->from < right->from);
}

/* ---- rests ---- */

static bool is_known(const struct xc_trace *trace)
{
	for (size_t i = 0; i < trace->count; i++)
		if (!trace->frames[i])
			return false;
	return true;
}

/* Removes the frames whose bits are set. False if the rest is too long. */
static bool shorten(const struct xc_trace *trace, unsigned gone, struct rest *rest)
{
	size_t count = 0;
	for (size_t i = 0; i < trace->count; i++) {
		if (gone & 1u << i)
			continue;
		if (count == XC_COUNT(rest->frames))
			return false;
		rest->frames[count++] = trace->frames[i];
	}
	return true;
}

/* The innermost frame always stays. */
static void add_rests(struct joining *j, size_t from)
{
	const struct xc_observed_trace *observed = &j->observed[from];
	if (!observed->whole || !observed->program || observed->trace.count > MOST || !is_known(&observed->trace))
		return;
	for (unsigned gone = 2; gone < 1u << observed->trace.count; gone += 2) {
		struct rest rest = {.program = observed->program, .from = from};
		if (__builtin_popcount(gone) > LOST || !shorten(&observed->trace, gone, &rest))
			continue;
		j->rests = xc_grow(j->rests, j->rest_count, &j->rest_capacity, sizeof *j->rests);
		j->rests[j->rest_count++] = rest;
	}
}

/* ---- builds ---- */

static int by_cluster(const void *a, const void *b)
{
	const struct sight *left = a, *right = b;
	if (left->cluster != right->cluster)
		return left->cluster < right->cluster ? -1 : 1;
	return (left->build > right->build) - (left->build < right->build);
}

static size_t first_of(const size_t *firsts, size_t i)
{
	while (firsts[i] != i)
		i = firsts[i];
	return i;
}

static void look(struct joining *j)
{
	j->sight_count = 0;
	for (size_t i = 0; i < j->count; i++) {
		const struct xc_observed_trace *observed = &j->observed[i];
		j->roots[i] = first_of(j->firsts, i);
		for (size_t k = 0; k < observed->build_count || k == 0; k++) {
			j->sights = xc_grow(j->sights, j->sight_count, &j->sight_capacity, sizeof *j->sights);
			j->sights[j->sight_count++] =
				(struct sight){j->roots[i], observed->build_count ? observed->builds[k] : UNKNOWN};
		}
	}
	qsort(j->sights, j->sight_count, sizeof *j->sights, by_cluster);
}

static bool is_seen_in(const struct joining *j, size_t cluster, uint32_t build)
{
	const struct sight asked = {cluster, build};
	return bsearch(&asked, j->sights, j->sight_count, sizeof asked, by_cluster) != NULL;
}

/* Was the cluster seen in one of the trace's builds, as far as is known? */
static bool share_build(const struct joining *j, size_t cluster, const struct xc_observed_trace *observed)
{
	bool share = !observed->build_count || is_seen_in(j, cluster, UNKNOWN);
	for (size_t i = 0; i < observed->build_count && !share; i++)
		share = is_seen_in(j, cluster, observed->builds[i]);
	return share;
}

/* ---- joining ---- */

static size_t bound(const struct joining *j, const struct rest *asked)
{
	return XC_LOWER_BOUND(j->rest_count, i, by_frames(&j->rests[i], asked) < 0);
}

/* The one cluster that fits; the trace itself if there are none or several. A cluster seen in the same build does not
 * fit, because it does not look like this there. */
static size_t cluster_for(const struct joining *j, size_t i)
{
	struct rest asked = {.program = j->observed[i].program};
	size_t found = i;
	shorten(&j->observed[i].trace, 0, &asked);
	for (size_t k = bound(j, &asked); k < j->rest_count && !by_frames(&j->rests[k], &asked); k++) {
		size_t cluster = j->roots[j->rests[k].from];
		if (cluster == found || share_build(j, cluster, &j->observed[i]))
			continue;
		if (found != i)
			return i;
		found = cluster;
	}
	return found;
}

static void assign(struct joining *j, size_t i)
{
	size_t cluster = first_of(j->firsts, cluster_for(j, i));
	if (cluster < i)
		j->firsts[i] = cluster;
	else
		j->firsts[cluster] = i;
}

/* Which traces may be joined: short ones that are in no cluster. */
static bool *alone(const struct joining *j)
{
	bool *result = xc_alloc(j->count + 1);
	for (size_t i = 0; i < j->count; i++) {
		const struct xc_observed_trace *observed = &j->observed[i];
		result[i] = j->firsts[i] == i && observed->whole && observed->trace.count < SHORT &&
			    is_known(&observed->trace);
		result[j->firsts[i]] &= j->firsts[i] == i;
	}
	return result;
}

void xc_tailcall_merge(const struct xc_observed_trace *observed, size_t count, size_t *firsts)
{
	struct joining j = {.observed = observed,
			    .count = count,
			    .firsts = firsts,
			    .roots = xc_alloc((count + 1) * sizeof *firsts)};
	bool *may_join = alone(&j);
	for (size_t i = 0; i < count; i++)
		add_rests(&j, i);
	if (j.rest_count)
		qsort(j.rests, j.rest_count, sizeof *j.rests, by_all);
	for (size_t length = SHORT - 1; j.rest_count && length > 0; length--) {
		look(&j);
		for (size_t i = 0; i < count; i++)
			if (may_join[i] && observed[i].trace.count == length)
				assign(&j, i);
	}
	for (size_t i = 0; i < count; i++)
		firsts[i] = first_of(firsts, i);
	free(j.roots);
	free(j.rests);
	free(j.sights);
	free(may_join);
}
