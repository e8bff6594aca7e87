/* neighbours: which traces of a set are near each other.
 *
 * Found without comparing all with all, and all that are near are found: what two traces share must weigh so much that it cannot be only frames which the
 * shorter one has in common with most. So only those are compared that share one of its rarer frames. Where even those are very many, as when
 * hundreds of traces differ in a frame or two, each is compared with the nearest in the order of their frames only; `capped` tells so. */
#ifndef XC_NEIGHBOURS_H
#define XC_NEIGHBOURS_H

#include "batch/cluster/trace_similarity.h"

enum {
	XC_NEIGHBOURS_WORK = 50000, /* of comparing one (xc_probe_work), at most: 500 long traces */
	XC_NEIGHBOURS_KEPT = 500,   /* neighbours found from one trace, at most */
};

struct xc_neighbours {
	size_t *starts;      /* of each trace's neighbours below; one more at the end */
	uint32_t *others;    /* in order */
	uint16_t *distances; /* at the same index; below XC_DISTANCE_ONE, so that the largest value is free */
	bool capped;         /* not all were compared */
};

/* Neighbours that are nearer than cut, which is below XC_DISTANCE_ONE. Frames are numbered up to `frames`. At most 2^32 - 1 traces. The result
 * depends on the order of traces only when it is capped. */
struct xc_neighbours *xc_neighbours_find(const struct xc_observed_trace *const *observed, size_t count, uint32_t frames,
					 uint32_t cut);
void xc_neighbours_free(struct xc_neighbours *neighbours);

/* Index of the first of some ascending numbers, those at lo up to hi, that is not below `number`; hi: all are. */
size_t xc_neighbours_position(const uint32_t *numbers, size_t lo, size_t hi, uint32_t number);

#endif
