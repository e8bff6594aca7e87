/* glibc_repair: what became of a damaged chunk, and where chunks go on behind it.
 *
 * For the walk (glibc_walk.c), which stops where a header breaks a rule or does not agree with the one behind it. */
#ifndef XC_GLIBC_REPAIR_H
#define XC_GLIBC_REPAIR_H

#include "heap/glibc/glibc_impl.h"

enum { XC_GLIBC_LEAST_EFFORT = 1 << 20 };

/* Of one piece, kept between calls. */
struct xc_glibc_repair_state {
	xc_addr floor;   /* 0 at first: rises each time the walk is sent back, so that it comes to an end */
	uint64_t effort; /* steps of searches that are left; when there are none, what is left of the piece is lost */
};

/* The walk cannot go on at `bad`: correct its blocks (those that damage made wrong go, what is known of the damaged chunk is added), note
 * the damage and say where to go on, which may be a little below `bad`. `why` is the rule that `bad` broke: static or of walk->memory.
 * Cost: linear in the range from some chunks before `bad` to where the walk goes on. Several threads may mend, each its own walk. */
xc_addr xc_glibc_repair(struct xc_walk *walk, const struct xc_glibc_segment *segment, xc_addr bad, const char *why,
			struct xc_glibc_repair_state *repair);

#endif
