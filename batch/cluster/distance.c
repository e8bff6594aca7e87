/* distance: a heaviest common subsequence over the pairs of equal frames only. Most frames occur once in a trace, so
 * there are few pairs.
 *
 * The frames of `other` are processed in order. Of the best sums over the probe's frames up to j, only those j are
 * stored at which the sum grows: a bit mask, and a value for each bit. A pair (i, j) adds its weight to the best sum
 * below j, and removes the smaller sums above. */
#include "batch/cluster/distance.h"

#include <math.h>
#include <stdlib.h>

enum { UNIT = 1 << 24 }; /* of weights: the sum over 64 frames is less than 23.4 units */

#define DEPTH 0.04 /* decay of a frame's weight with its depth */
#define SHIFT 0.13 /* decay with the difference between the two depths */

struct xc_probe {
	const struct xc_trace *trace;
	uint32_t limit;
	size_t work;
	uint8_t *last;                /* by frame number: 1 + its last index in the trace, or 0 */
	uint8_t before[XC_TRACE_MAX]; /* by index: 1 + the previous index of the same frame, or 0 */
	uint32_t weights[XC_TRACE_MAX][XC_TRACE_MAX];
};

static uint32_t weight(size_t least, size_t apart)
{
	return (uint32_t)lround(UNIT * exp(-DEPTH * (double)(least + 1) - SHIFT * (double)apart));
}

/* Sums of the weights of the first frames. */
static const uint64_t *sums(void)
{
	static _Thread_local uint64_t table[XC_TRACE_MAX + 1];
	if (!table[1])
		for (size_t i = 0; i < XC_TRACE_MAX; i++)
			table[i + 1] = table[i] + weight(i, 0);
	return table;
}

uint32_t xc_distance_weight(size_t i)
{
	return (uint32_t)(sums()[i + 1] - sums()[i]);
}

uint64_t xc_distance_needed(size_t length, uint32_t cut)
{
	return sums()[length] * (XC_DISTANCE_ONE - cut) / XC_DISTANCE_ONE;
}

struct xc_probe *xc_probe_new(uint32_t frames, uint32_t limit)
{
	struct xc_probe *probe = xc_alloc(sizeof *probe);
	probe->limit = limit < XC_DISTANCE_ONE ? limit : XC_DISTANCE_ONE;
	probe->last = xc_alloc((size_t)frames + 1);
	for (size_t i = 0; i < XC_TRACE_MAX; i++)
		for (size_t k = 0; k < XC_TRACE_MAX; k++)
			probe->weights[i][k] = weight(i < k ? i : k, i < k ? k - i : i - k);
	return probe;
}

void xc_probe_free(struct xc_probe *probe)
{
	free(probe->last);
	free(probe);
}

void xc_probe_set(struct xc_probe *probe, const struct xc_trace *trace)
{
	for (size_t i = 0; probe->trace && i < probe->trace->count; i++)
		probe->last[probe->trace->frames[i]] = 0;
	probe->trace = trace;
	probe->work = 0;
	for (size_t i = 0; i < trace->count; i++) {
		if (!trace->frames[i])
			continue;
		probe->before[i] = probe->last[trace->frames[i]];
		probe->last[trace->frames[i]] = (uint8_t)(i + 1);
	}
}

/* Best sums by the number of the probe's frames used: they grow at the bits of mask. */
struct steps {
	uint64_t mask;
	uint32_t values[XC_TRACE_MAX];
};

static uint32_t last_of(const struct steps *s, uint64_t mask)
{
	return mask ? s->values[63 - __builtin_clzll(mask)] : 0;
}

/* Adds a pair of equal frames, the probe's at j. */
static void add_pair(struct steps *s, unsigned j, uint32_t weighs)
{
	uint64_t bit = UINT64_C(1) << j, above = s->mask & ~(bit - 1);
	uint32_t value = last_of(s, s->mask & (bit - 1)) + weighs;
	if (above & bit && s->values[j] >= value)
		return;
	s->values[j] = value;
	s->mask |= bit;
	for (above &= ~bit; above; above &= above - 1) {
		unsigned next = (unsigned)__builtin_ctzll(above);
		if (s->values[next] > value)
			return;
		s->mask &= ~(UINT64_C(1) << next);
	}
}

static uint32_t likeness(struct xc_probe *probe, const struct xc_trace *other)
{
	struct steps s;
	s.mask = 0;
	for (size_t i = 0; i < other->count; i++)
		for (unsigned at = probe->last[other->frames[i]]; at; at = probe->before[at - 1]) {
			add_pair(&s, at - 1, probe->weights[i][at - 1]);
			probe->work++;
		}
	return last_of(&s, s.mask);
}

/* An upper bound of any alignment: the weights of all frames that are in both traces. */
static uint64_t likeness_at_most(struct xc_probe *probe, const struct xc_trace *other)
{
	const uint64_t *sum = sums();
	uint64_t most = 0;
	for (size_t i = 0; i < other->count; i++)
		most += probe->last[other->frames[i]] ? sum[i + 1] - sum[i] : 0;
	probe->work += other->count;
	return most;
}

uint32_t xc_probe_distance(struct xc_probe *probe, const struct xc_trace *other)
{
	size_t one = probe->trace->count, two = other->count, shorter = one < two ? one : two;
	uint64_t most = sums()[shorter >= XC_DISTANCE_SHORT ? shorter : one + two - shorter];
	uint64_t needed = most * (XC_DISTANCE_ONE - probe->limit) / XC_DISTANCE_ONE;
	if (!most || likeness_at_most(probe, other) < needed)
		return XC_DISTANCE_ONE;
	return XC_DISTANCE_ONE - (uint32_t)((uint64_t)likeness(probe, other) * XC_DISTANCE_ONE / most);
}

size_t xc_probe_work(const struct xc_probe *probe)
{
	return probe->work;
}

size_t xc_probe_shared(const struct xc_probe *probe, const struct xc_trace *other)
{
	size_t shared = 0;
	for (size_t i = 0; i < other->count; i++)
		shared += probe->last[other->frames[i]] != 0;
	return shared;
}
