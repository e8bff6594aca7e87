/* cluster: complete-linkage clustering. Two clusters are joined, nearest first, while every trace of one is nearer than
 * the cut to every trace of the other.
 *
 * The same set in the same order gives the same clusters; the caller sorts. If traces have more near neighbours than
 * are kept (neighbours.h), the resulting clusters are joined again, each by its first trace; then the least similar
 * members may be further apart than the cut. */
#ifndef XC_CLUSTER_H
#define XC_CLUSTER_H

#include "batch/cluster/trace_similarity.h"

/* For each trace, the index of the first one in its cluster. Frames are numbered up to `frames`; cut: 0 to 1. Cost:
 * 20,000 traces of 64 frames take a second. If all are similar, or permute a few names, they take half a minute, and
 * some 40 bytes per near pair. */
void xc_cluster(const struct xc_observed_trace *observed, size_t count, uint32_t frames, double cut,
		size_t *firsts_out);

#endif
