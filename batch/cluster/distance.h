/* distance: the dissimilarity of two traces: 0 for equal ones, 1 for those that share nothing.
 *
 * The measure is CASR's. Over all order-preserving alignments of the traces, take the best sum of exp(-0.04 min(i, j) -
 * 0.13 |i - j|) over the pairs of equal frames (i and j count from 1). Divide it by the sum of exp(-0.04 i) over the
 * length of the shorter trace, and subtract the result from 1. In contrast to CASR, the longer trace's length is used
 * if the shorter has fewer than four frames; otherwise a trace of one frame would equal all that begin with it.
 *
 * All arithmetic is in integers, so that every machine gets the same result. */
#ifndef XC_DISTANCE_H
#define XC_DISTANCE_H

#include "batch/cluster/trace.h"

enum {
	XC_DISTANCE_ONE = 1 << 16, /* represents 1 */
	XC_DISTANCE_SHORT = 4,     /* traces with fewer frames are compared by the longer one's length */
};

/* Measures the distances from one trace to many others. */
struct xc_probe;

/* For frames numbered up to `frames`. A distance of `limit` or more may be returned as XC_DISTANCE_ONE, which is
 * faster. Cost: one byte per frame. */
struct xc_probe *xc_probe_new(uint32_t frames, uint32_t limit);
void xc_probe_free(struct xc_probe *probe);

/* Sets the trace that others are compared with; borrowed. */
void xc_probe_set(struct xc_probe *probe, const struct xc_trace *trace);

/* The distance between the probe's trace and another one; symmetric. O(length + number of pairs of equal frames). */
uint32_t xc_probe_distance(struct xc_probe *probe, const struct xc_trace *other);

/* The work since the probe was set: frames and pairs of equal frames processed. Deterministic. */
size_t xc_probe_work(const struct xc_probe *probe);

/* The number of the other trace's frames that occur in the probe's trace. O(length). */
size_t xc_probe_shared(const struct xc_probe *probe, const struct xc_trace *other);

/* The sum of weights that a trace of this length needs to be nearer than cut to a trace that is not shorter; and the
 * weight of its frame at index i, an upper bound of its contribution. Both in the same unit. */
uint64_t xc_distance_needed(size_t length, uint32_t cut);
uint32_t xc_distance_weight(size_t i);

#endif
