/* glibc_resync: where chunks begin among bytes of which nothing is sure. */
#ifndef XC_GLIBC_RESYNC_H
#define XC_GLIBC_RESYNC_H

#include "heap/glibc/glibc_impl.h"

enum { XC_GLIBC_TRAIL = 4 };

/* A search in one segment, round a place where the walk broke off. */
struct xc_glibc_resync {
	const struct xc_glibc_segment *segment;
	struct xc_window *window;
	const xc_glibc_anchor *anchors;
	size_t anchor_count;
	unsigned word;
	xc_addr end;                   /* where chains must end: the top chunk, or what lies behind the segment */
	xc_addr bad;                   /* where the chain broke: no chain goes through it */
	xc_addr floor;                 /* chunks are looked for above it only */
	xc_addr trail[XC_GLIBC_TRAIL]; /* the chunks by which the walk came, ascending; the last one is bad */
	size_t trail_count;
	uint64_t *effort; /* left, in steps: where there is none any more nothing is found */
};

/* The header at an address; false when it cannot be read. The other also wants it to break no rule, and the chunk to end where it may. */
bool xc_glibc_resync_load(const struct xc_glibc_resync *hunt, xc_addr at, struct xc_glibc_chunk *chunk_out);
bool xc_glibc_resync_load_right(const struct xc_glibc_resync *hunt, xc_addr at, struct xc_glibc_chunk *chunk_out);

/* Does what stands behind a chunk agree with its size? Only a free one's size is told twice. */
bool xc_glibc_resync_agrees(const struct xc_glibc_resync *hunt, const struct xc_glibc_chunk *chunk);

/* The state of a chunk that the one behind it does not tell: by the list that links it, else live. */
enum xc_block_state xc_glibc_resync_state(const struct xc_glibc_resync *hunt, xc_addr at);

bool xc_glibc_resync_on_trail(const struct xc_glibc_resync *hunt, xc_addr at);

/* Would a chunk from `at` to `end` fit: do chunks go on behind it, and is none within? */
bool xc_glibc_resync_goes_on(const struct xc_glibc_resync *hunt, xc_addr at, xc_addr end);

/* The lowest place from `from` on, below `to`, where chunks go on; `to`, or a place behind it, when there is none. */
xc_addr xc_glibc_resync_search(const struct xc_glibc_resync *hunt, xc_addr from, xc_addr to);

#endif
