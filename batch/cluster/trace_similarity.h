/* trace_similarity: how far apart two traces are, given what is known of where they come from.
 *
 * The distance (distance.h) takes two siblings that are called from the same deep stack for near, and they are two problems. So:
 *
 *	in one build                      the frame where it happened must be the same; of whole stacks its caller, too
 *	in two builds                     it may be inlined in one: it is among the other's first three
 *	in two programs                   five frames must be equal: a library's frames alone are no sign */
#ifndef XC_TRACE_SIMILARITY_H
#define XC_TRACE_SIMILARITY_H

#include "batch/cluster/distance.h"

/* A trace and where it was seen. */
struct xc_observed_trace {
	struct xc_trace trace;
	uint32_t program; /* a number; 0: not known */
	const uint32_t
		*builds; /* numbers of the builds (of its innermost frame's module) in which it was seen, ascending */
	size_t build_count; /* 0: not known, which is taken for one build */
	bool whole;         /* the stack goes down to where the program or a thread starts */
};

/* Distance of the kin that the probe was set to (its trace) and another; XC_DISTANCE_ONE when they cannot be one problem. The same either way round. */
uint32_t xc_trace_similarity_distance(struct xc_probe *probe, const struct xc_observed_trace *one,
				      const struct xc_observed_trace *other);

#endif
