/* neighbours: an inverted index from frames to traces, queried for the rarer frames of each trace. */
#include "batch/cluster/neighbours.h"

#include <stdlib.h>
#include <string.h>

struct pair {
	uint32_t one, other;
	uint16_t distance;
};

struct finder {
	const struct xc_observed_trace *const *observed;
	size_t count;
	uint32_t frames, cut;
	uint32_t *order, *place; /* traces sorted by their frames; and each trace's position in that order */
	size_t *starts;          /* of each frame's list in `having` */
	uint32_t *having;        /* positions of the traces that have the frame, ascending, without duplicates */
	uint32_t *stamps;        /* by trace: 1 + the last trace compared with it */
	struct xc_probe *probe;
	struct pair *pairs;
	size_t pair_count, pair_capacity;
	bool capped;
};

/* ---- order ---- */

struct placed {
	const struct xc_trace *trace;
	uint32_t index;
};

static int by_frames(const void *a, const void *b)
{
	const struct placed *left = a, *right = b;
	const struct xc_trace *l = left->trace, *r = right->trace;
	for (size_t i = 0; i < l->count && i < r->count; i++)
		if (l->frames[i] != r->frames[i])
			return l->frames[i] < r->frames[i] ? -1 : 1;
	if (l->count != r->count)
		return l->count < r->count ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

static void put_in_order(struct finder *f)
{
	struct placed *placed = xc_alloc((f->count + 1) * sizeof *placed);
	for (size_t i = 0; i < f->count; i++)
		placed[i] = (struct placed){&f->observed[i]->trace, (uint32_t)i};
	qsort(placed, f->count, sizeof *placed, by_frames);
	f->order = xc_alloc((f->count + 1) * sizeof *f->order);
	f->place = xc_alloc((f->count + 1) * sizeof *f->place);
	for (size_t i = 0; i < f->count; i++) {
		f->order[i] = placed[i].index;
		f->place[placed[i].index] = (uint32_t)i;
	}
	free(placed);
}

/* ---- index ---- */

static bool is_first(const struct xc_trace *trace, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (trace->frames[i] == trace->frames[at])
			return false;
	return trace->frames[at] != 0;
}

static void make_index(struct finder *f)
{
	size_t all = 0;
	f->starts = xc_alloc(((size_t)f->frames + 2) * sizeof *f->starts);
	for (size_t i = 0; i < f->count; i++)
		for (size_t k = 0; k < f->observed[i]->trace.count; k++)
			f->starts[f->observed[i]->trace.frames[k]] += is_first(&f->observed[i]->trace, k);
	for (size_t i = 0; i <= (size_t)f->frames + 1; i++) {
		size_t count = f->starts[i];
		f->starts[i] = all;
		all += count;
	}
	f->having = xc_alloc((all + 1) * sizeof *f->having);
	for (size_t i = 0; i < f->count; i++) {
		const struct xc_trace *trace = &f->observed[f->order[i]]->trace;
		for (size_t k = 0; k < trace->count; k++)
			if (is_first(trace, k))
				f->having[f->starts[trace->frames[k]]++] = (uint32_t)i;
	}
	memmove(f->starts + 1, f->starts, ((size_t)f->frames + 1) * sizeof *f->starts);
	f->starts[0] = 0;
}

static size_t commonness(const struct finder *f, uint32_t frame)
{
	return f->starts[frame + 1] - f->starts[frame];
}

/* ---- choosing frames to query ---- */

struct asked {
	uint32_t frame;
	size_t commonness;
	uint64_t weight; /* its maximal contribution: the weights of all its occurrences */
};

static int by_rareness(const void *a, const void *b)
{
	const struct asked *left = a, *right = b;
	if (left->commonness != right->commonness)
		return left->commonness < right->commonness ? -1 : 1;
	return (left->frame > right->frame) - (left->frame < right->frame);
}

static size_t frames_of(const struct finder *f, const struct xc_trace *trace, struct asked asked[XC_TRACE_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < trace->count; i++) {
		size_t k = 0;
		while (k < count && asked[k].frame != trace->frames[i])
			k++;
		if (!trace->frames[i])
			continue;
		if (k == count)
			asked[count++] = (struct asked){trace->frames[i], commonness(f, trace->frames[i]), 0};
		asked[k].weight += xc_distance_weight(i);
	}
	qsort(asked, count, sizeof *asked, by_rareness);
	return count;
}

/* The rarest frames, as many as needed for the others together to be too light. */
static size_t rarer_frames_of(const struct finder *f, const struct xc_trace *trace, struct asked asked[XC_TRACE_MAX])
{
	uint64_t needed = xc_distance_needed(trace->count, f->cut), others = 0;
	size_t count = frames_of(f, trace, asked);
	while (count && others + asked[count - 1].weight < needed)
		others += asked[--count].weight;
	return count;
}

/* ---- comparing ---- */

struct comparing {
	struct finder *f;
	uint32_t at; /* the trace */
	size_t kept;
};

static bool is_full(const struct comparing *c)
{
	return xc_probe_work(c->f->probe) >= XC_NEIGHBOURS_WORK || c->kept >= XC_NEIGHBOURS_KEPT;
}

/* Each pair is examined from its shorter trace, or from the first of two equally long ones. */
static bool is_mine(const struct comparing *c, uint32_t other)
{
	const struct finder *f = c->f;
	size_t mine = f->observed[c->at]->trace.count, theirs = f->observed[other]->trace.count;
	return theirs > mine || (theirs == mine && f->place[other] > f->place[c->at]);
}

static void compare(struct comparing *c, uint32_t other)
{
	struct finder *f = c->f;
	if (f->stamps[other] == c->at + 1 || !is_mine(c, other))
		return;
	f->stamps[other] = c->at + 1;
	uint32_t distance = xc_trace_similarity_distance(f->probe, f->observed[c->at], f->observed[other]);
	if (distance >= f->cut)
		return;
	c->kept++;
	f->pairs = xc_grow(f->pairs, f->pair_count, &f->pair_capacity, sizeof *f->pairs);
	f->pairs[f->pair_count++] = (struct pair){c->at, other, (uint16_t)distance};
}

size_t xc_neighbours_position(const uint32_t *numbers, size_t lo, size_t hi, uint32_t number)
{
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (numbers[middle] < number)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/* From the trace's own position outwards. */
static void compare_having(struct comparing *c, uint32_t frame)
{
	const struct finder *f = c->f;
	size_t start = f->starts[frame], end = f->starts[frame + 1];
	size_t up = xc_neighbours_position(f->having, start, end, f->place[c->at]), down = up;
	while ((up < end || down > start) && !is_full(c)) {
		if (up < end)
			compare(c, f->order[f->having[up++]]);
		if (down > start)
			compare(c, f->order[f->having[--down]]);
	}
}

static void compare_all(struct finder *f)
{
	struct asked asked[XC_TRACE_MAX];
	for (size_t i = 0; i < f->count; i++) {
		struct comparing c = {.f = f, .at = (uint32_t)i};
		size_t count = rarer_frames_of(f, &f->observed[i]->trace, asked);
		xc_probe_set(f->probe, &f->observed[i]->trace);
		for (size_t k = 0; k < count && !is_full(&c); k++)
			compare_having(&c, asked[k].frame);
		f->capped |= is_full(&c);
	}
}

/* ---- the result ---- */

static struct xc_neighbours *lists_new(size_t count, size_t entries)
{
	struct xc_neighbours *n = xc_alloc(sizeof *n);
	n->starts = xc_alloc((count + 2) * sizeof *n->starts);
	n->others = xc_alloc((entries + 1) * sizeof *n->others);
	n->distances = xc_alloc((entries + 1) * sizeof *n->distances);
	return n;
}

/* starts[i] holds the length of list i, and afterwards its start. */
static void lay_out(struct xc_neighbours *n, size_t count)
{
	for (size_t i = 0, all = 0; i <= count; i++) {
		size_t own = n->starts[i];
		n->starts[i] = all;
		all += own;
	}
}

/* Filling moves each start to the start of the next list. */
static void append(struct xc_neighbours *n, uint32_t list, uint32_t other, uint16_t distance)
{
	n->others[n->starts[list]] = other;
	n->distances[n->starts[list]++] = distance;
}

static void filled(struct xc_neighbours *n, size_t count)
{
	memmove(n->starts + 1, n->starts, count * sizeof *n->starts);
	n->starts[0] = 0;
}

/* Lists each pair on both sides, in the order found. */
static struct xc_neighbours *both_sides(const struct finder *f)
{
	struct xc_neighbours *n = lists_new(f->count, 2 * f->pair_count);
	for (size_t i = 0; i < f->pair_count; i++) {
		n->starts[f->pairs[i].one]++;
		n->starts[f->pairs[i].other]++;
	}
	lay_out(n, f->count);
	for (size_t i = 0; i < f->pair_count; i++) {
		const struct pair *p = &f->pairs[i];
		append(n, p->one, p->other, p->distance);
		append(n, p->other, p->one, p->distance);
	}
	filled(n, f->count);
	return n;
}

/* Since the lists are symmetric, appending each list's number to its neighbours' lists, in order, sorts them. */
static struct xc_neighbours *sorted(const struct xc_neighbours *from, size_t count)
{
	struct xc_neighbours *n = lists_new(count, from->starts[count]);
	memcpy(n->starts, from->starts, (count + 1) * sizeof *n->starts);
	for (size_t i = 0; i < count; i++)
		for (size_t k = from->starts[i]; k < from->starts[i + 1]; k++)
			append(n, from->others[k], (uint32_t)i, from->distances[k]);
	filled(n, count);
	return n;
}

static struct xc_neighbours *result_of(struct finder *f)
{
	struct xc_neighbours *unsorted = both_sides(f);
	free(xc_take(f->pairs));
	struct xc_neighbours *n = sorted(unsorted, f->count);
	n->capped = f->capped;
	xc_neighbours_free(unsorted);
	return n;
}

struct xc_neighbours *xc_neighbours_find(const struct xc_observed_trace *const *observed, size_t count, uint32_t frames,
					 uint32_t cut)
{
	struct finder f = {.observed = observed, .count = count, .frames = frames, .cut = cut};
	f.probe = xc_probe_new(frames, cut);
	f.stamps = xc_alloc((count + 1) * sizeof *f.stamps);
	put_in_order(&f);
	make_index(&f);
	compare_all(&f);
	struct xc_neighbours *n = result_of(&f);
	xc_probe_free(f.probe);
	free(f.stamps);
	free(f.order);
	free(f.place);
	free(f.starts);
	free(f.having);
	return n;
}

void xc_neighbours_free(struct xc_neighbours *neighbours)
{
	free(neighbours->starts);
	free(neighbours->others);
	free(neighbours->distances);
	free(neighbours);
}
