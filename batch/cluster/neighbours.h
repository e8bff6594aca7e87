/* neighbours: which traces of a set are near each other.
 *
 * Finds all near pairs without comparing all pairs. The frames that two near traces share must weigh so much that they
 * cannot all be frames that the shorter trace has in common with most others. So only traces that share one of its
 * rarer frames are compared. If even these are very many, as when hundreds of traces differ in a frame or two, each
 * trace is compared only with the nearest in the order of their frames, and `capped` is set. */
#ifndef XC_NEIGHBOURS_H
#define XC_NEIGHBOURS_H

#include "batch/cluster/trace_similarity.h"

enum {
	XC_NEIGHBOURS_WORK = 50000, /* maximal work per trace (xc_probe_work): 500 long traces */
	XC_NEIGHBOURS_KEPT = 500,   /* maximal number of neighbours found from one trace */
};

struct xc_neighbours {
	size_t *starts;      /* of each trace's list in `others`; one more at the end */
	uint32_t *others;    /* ascending */
	uint16_t *distances; /* at the same index; below XC_DISTANCE_ONE, so the largest value is free */
	bool capped;         /* not all pairs were compared */
};

/* Finds neighbours nearer than cut, which is below XC_DISTANCE_ONE. Frames are numbered up to `frames`. At most 2^32 -
 * 1 traces. The result depends on the order of traces only if it is capped. */
struct xc_neighbours *xc_neighbours_find(const struct xc_observed_trace *const *observed, size_t count, uint32_t frames,
					 uint32_t cut);
void xc_neighbours_free(struct xc_neighbours *neighbours);

/* The index of the first of the ascending numbers in [lo, hi) that is not below `number`; hi if there is none. */
size_t xc_neighbours_position(const uint32_t *numbers, size_t lo, size_t hi, uint32_t number);

#endif
