/* tailcall_merge: complete stacks of few frames, which may have lost some to tail calls of another build, and the one
 * problem that each fits.
 *
 * A stack of fewer than four frames fits a stack of another build if that one is complete, is of the same program,
 * begins with the same frame, and has the same frames in order with at most two more. A cluster that was also seen in
 * the same build is another problem, because it looks different there. If two clusters remain, the stack joins
 * neither. */
#ifndef XC_TAILCALL_MERGE_H
#define XC_TAILCALL_MERGE_H

#include "batch/cluster/trace_similarity.h"

/* For traces of one class group and the firsts of their clusters (cluster.h): joins each trace that is alone to the one
 * cluster that has its frames. Cost: a sort of the shortened forms of each trace of at most five frames: ten. */
void xc_tailcall_merge(const struct xc_observed_trace *observed, size_t count, size_t *firsts);

#endif
