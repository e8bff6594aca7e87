/* glibc_resume: what became of a damaged chunk, and where chunks go on behind it.
 *
 * For the walk (glibc_walk.c), which stops where a header breaks a rule or does not agree with the one behind it. */
#ifndef XC_GLIBC_RESUME_H
#define XC_GLIBC_RESUME_H

#include "glibc_impl.h"

/* The walk cannot go on at `bad`: correct its blocks (those that damage made wrong go, what is known of the damaged chunk is added), note
 * the damage and say where to go on, which may be a little below `bad`. `why` is the rule that `bad` broke: static or of walk->memory.
 * *floor, 0 at first, is kept between calls for one piece: it rises each time the walk is sent back, so that it comes to an end.
 * Cost: linear in the range from some chunks before `bad` to where the walk goes on. Several threads may mend, each its own walk. */
xc_addr xc_glibc_mend(struct xc_walk *walk, const struct xc_glibc_segment *segment, xc_addr bad, const char *why,
		      xc_addr *floor);

#endif
