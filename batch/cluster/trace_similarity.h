/* trace_similarity: the distance of two traces, given where they were observed.
 *
 * By the plain distance (distance.h), two sibling functions called from the same deep stack are near, but they are two
 * problems. So:
 *
 *  in one build        the innermost frame must be equal; in complete stacks its caller, too
 *  in two builds       the innermost frame may be inlined in one: it is among the other trace's first three frames
 *  in two programs     five frames must be equal: a library's frames alone prove nothing */
#ifndef XC_TRACE_SIMILARITY_H
#define XC_TRACE_SIMILARITY_H

#include "batch/cluster/distance.h"

/* A trace and where it was observed. */
struct xc_observed_trace {
	struct xc_trace trace;
	uint32_t program; /* a number; 0: unknown */
	const uint32_t
		*builds; /* numbers of the builds (of the innermost frame's module) in which it was seen, ascending */
	size_t build_count; /* 0: unknown, which counts as one build */
	bool whole;         /* the stack extends to the start of the program or a thread */
};

/* The distance between the trace that the probe was set to (`one`) and another; XC_DISTANCE_ONE if they cannot be one
 * problem. Symmetric. */
uint32_t xc_trace_similarity_distance(struct xc_probe *probe, const struct xc_observed_trace *one,
				      const struct xc_observed_trace *other);

#endif
