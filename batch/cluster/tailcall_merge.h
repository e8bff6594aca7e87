/* tailcall_merge: whole stacks of few frames, which may have lost some to tail calls of another build, and the one problem that each can be of.
 *
 * One of fewer than four frames is what another build has, when that is whole and of the same program, begins with the same frame, and has its
 * frames in their order and at most two more. A cluster that was seen in the same build, too, is another problem: it does not look so there. Where two
 * clusters are left nothing tells which it was: then it is of neither. */
#ifndef XC_TAILCALL_MERGE_H
#define XC_TAILCALL_MERGE_H

#include "batch/cluster/trace_similarity.h"

/* For some traces of one class group and the firsts of their clusters (cluster.h): join those that are alone to the one cluster that has their
 * frames. Cost: a sort of the ways to shorten each trace of at most five frames: ten. */
void xc_tailcall_merge(const struct xc_observed_trace *observed, size_t count, size_t *firsts);

#endif
