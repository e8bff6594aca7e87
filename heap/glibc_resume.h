/* glibc_resume: what became of a damaged chunk, and where chunks go on behind it.
 *
 * For the walk (glibc_walk.c), which stops where a header breaks a rule or does not agree with the one behind it. */
#ifndef XC_GLIBC_RESUME_H
#define XC_GLIBC_RESUME_H

#include "glibc_impl.h"

enum xc_repair_trust {
	XC_REPAIR_GUESS,  /* several chunks may have been here: nothing says where they began */
	XC_REPAIR_LIKELY, /* one chunk, if no other header is gone: nothing contradicts */
	XC_REPAIR_SURE, /* something else says the same: prev_size behind it, the bin it lies in, what is left of its size */
};

/* The damaged chunk reaches from `damaged` to `next`. */
struct xc_glibc_repair {
	xc_addr bad; /* as given to xc_glibc_repair */
	xc_addr damaged; /* whose header is wrong: `bad`, or a chunk before it whose size led there: blocks from here on are void */
	xc_addr next; /* a chunk, the top chunk, or what lies behind the segment */
	enum xc_repair_trust trust;
	enum xc_block_state state; /* of the damaged chunk; XC_BLOCK_UNKNOWN when it is a guess */
	const char *because;       /* what says so: "prev_size of the chunk behind it"; static */
};

/* Find out. `back` is a chunk some steps (a handful) before `bad` from which the walk came there, or `bad` itself at the start of a segment.
 * Cost: linear in the range from `back` to `next`. Safe from several threads. */
void xc_glibc_repair(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr back, xc_addr bad,
		     struct xc_glibc_repair *repair_out);

/* The walk cannot go on at `bad`: correct its blocks (those that damage made wrong go, what is known of the damaged chunk is added), note
 * the damage and say where to go on, which may be a little below `bad`. `why` is the rule that `bad` broke: static or of walk->memory.
 * *mended, 0 at first, is kept between calls for one piece: no place is mended for ever. */
xc_addr xc_glibc_mend(struct xc_walk *walk, const struct xc_glibc_segment *segment, xc_addr bad, const char *why,
		      xc_addr *mended);

#endif
