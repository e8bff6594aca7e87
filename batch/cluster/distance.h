/* distance: how unlike two traces are: 0 for equal ones, 1 for those that share nothing.
 *
 * The measure is CASR's: of all ways to lay the traces side by side in order, the best sum of exp(-0.04 min(i, j) - 0.13 |i - j|) over the pairs of equal
 * frames (i and j count from 1), divided by the sum of exp(-0.04 i) over the shorter one's length, and that taken from 1. Here the longer
 * one's length divides when the shorter has less than four frames, or else a trace of one frame would equal all that begin with it.
 *
 * All is done in integers, so that every machine finds the same. */
#ifndef XC_DISTANCE_H
#define XC_DISTANCE_H

#include "batch/cluster/trace.h"

enum {
	XC_DISTANCE_ONE = 1 << 16, /* stands for 1 */
	XC_DISTANCE_SHORT = 4,     /* traces with fewer frames are compared by the longer one's length */
};

/* Distances of one trace to many others. */
struct xc_probe;

/* For frames numbered up to `frames`. Distances of `limit` and more may be told as XC_DISTANCE_ONE, which is quicker. Cost: a byte a frame. */
struct xc_probe *xc_probe_new(uint32_t frames, uint32_t limit);
void xc_probe_free(struct xc_probe *probe);

/* The trace that others are compared with from now on; borrowed. */
void xc_probe_set(struct xc_probe *probe, const struct xc_trace *trace);

/* Distance of the probe's trace and another one, the same either way round. O(length and number of pairs of equal frames). */
uint32_t xc_probe_distance(struct xc_probe *probe, const struct xc_trace *other);

/* What has been done since the probe was set: frames and pairs of equal frames that were looked at. The same for the same calls. */
size_t xc_probe_work(const struct xc_probe *probe);

/* How many frames of the other one are in the probe's trace. O(length). */
size_t xc_probe_shared(const struct xc_probe *probe, const struct xc_trace *other);

/* The sum of weights that a trace of this length needs to be nearer than cut to one that is not shorter; and the weight of its frame at index i, which
 * adds at most that much. In the same unit. */
uint64_t xc_distance_needed(size_t length, uint32_t cut);
uint32_t xc_distance_weight(size_t i);

#endif
