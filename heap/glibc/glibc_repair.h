/* glibc_repair: decides what a damaged chunk was, and where the walk continues.
 *
 * Called by the walk (glibc_walk.c), which stops at a header that breaks a rule or contradicts the next one. */
#ifndef XC_GLIBC_REPAIR_H
#define XC_GLIBC_REPAIR_H

#include "heap/glibc/glibc_impl.h"

enum { XC_GLIBC_LEAST_EFFORT = 1 << 20 };

/* State for one piece, kept between calls. */
struct xc_glibc_repair_state {
	xc_addr floor;   /* 0 at first; rises each time the walk is sent back, so that the walk ends */
	uint64_t effort; /* steps left for searches; without any, the rest of the piece is lost */
};

/* The walk stopped at `bad`. Corrects its blocks (removes false ones, adds what is known of the damaged chunk),
 * records the damage and returns the place to continue, which may be a little below `bad`. `why` is the rule that
 * `bad` broke, static or in walk->memory. Cost: linear in the range from some chunks before `bad` to the returned
 * place. Several threads may repair, each its own walk. */
xc_addr xc_glibc_repair(struct xc_walk *walk, const struct xc_glibc_segment *segment, xc_addr bad, const char *why,
			struct xc_glibc_repair_state *repair);

#endif
