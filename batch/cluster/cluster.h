/* cluster: complete linkage: two clusters are joined, the nearest first, while every trace of one is nearer than the cut to every trace of the other.
 *
 * The same set in the same order gives the same clusters; the caller sorts. Where traces have more near neighbours than are kept (neighbours.h), clusters
 * that come out are joined again, each by its first trace; then its least alike may be further apart than the cut. */
#ifndef XC_CLUSTER_H
#define XC_CLUSTER_H

#include "batch/cluster/trace_similarity.h"

/* For each trace, the index of the first of its cluster. Frames are numbered up to `frames`; cut: 0 to 1. Cost: 20,000 traces of 64 frames take a
 * second; where all are alike, or of few names in another order, half a minute, and some 40 bytes for each pair that is near. */
void xc_cluster(const struct xc_observed_trace *observed, size_t count, uint32_t frames, double cut,
		size_t *firsts_out);

#endif
