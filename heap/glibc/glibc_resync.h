/* glibc_resync: finds the next chunk in memory with damaged headers. */
#ifndef XC_GLIBC_RESYNC_H
#define XC_GLIBC_RESYNC_H

#include "heap/glibc/glibc_impl.h"

enum { XC_GLIBC_TRAIL = 4 };

/* A search in one segment, around the place where the walk stopped. */
struct xc_glibc_resync {
	const struct xc_glibc_segment *segment;
	struct xc_window *window;
	const xc_glibc_anchor *anchors;
	size_t anchor_count;
	unsigned word;
	xc_addr end;                   /* where chains must end: the top chunk, or the end of the segment */
	xc_addr bad;                   /* where the chain broke; no chain may pass it */
	xc_addr floor;                 /* chunks are searched above it only */
	xc_addr trail[XC_GLIBC_TRAIL]; /* the chunks by which the walk arrived, ascending; the last one is bad */
	size_t trail_count;
	uint64_t *effort; /* steps left; without any, nothing is found */
};

/* Loads the header at an address; false if it cannot be read. load_right also requires that it breaks no rule and
 * that the chunk ends within bounds. */
bool xc_glibc_resync_load(const struct xc_glibc_resync *hunt, xc_addr at, struct xc_glibc_chunk *chunk_out);
bool xc_glibc_resync_load_right(const struct xc_glibc_resync *hunt, xc_addr at, struct xc_glibc_chunk *chunk_out);

/* Does the memory after a chunk agree with its size? Only the size of a free chunk is stored twice. */
bool xc_glibc_resync_agrees(const struct xc_glibc_resync *hunt, const struct xc_glibc_chunk *chunk);

/* The state of a chunk that its successor does not show: that of the list that links it, else live. */
enum xc_block_state xc_glibc_resync_state(const struct xc_glibc_resync *hunt, xc_addr at);

bool xc_glibc_resync_on_trail(const struct xc_glibc_resync *hunt, xc_addr at);

/* Would a chunk from `at` to `end` fit? True if chunks continue after it and none is inside it. */
bool xc_glibc_resync_goes_on(const struct xc_glibc_resync *hunt, xc_addr at, xc_addr end);

/* Could there be a chunk within [lo, hi), before another overwritten header? */
bool xc_glibc_resync_may_contain(const struct xc_glibc_resync *hunt, xc_addr lo, xc_addr hi);

/* The lowest place in [from, to) where chunks continue; `to`, or a place after it, if there is none. */
xc_addr xc_glibc_resync_search(const struct xc_glibc_resync *hunt, xc_addr from, xc_addr to);

#endif
