/* scan: finds the words of memory that point into blocks.
 *
 * Words are collected first and looked up in batches. A lookup takes three or four uncached memory reads; in a
 * batch these overlap, so that 30 million pointers take half a second. A scan belongs to one thread. */
#ifndef XC_SCAN_H
#define XC_SCAN_H

#include "heap/blocks/heap.h"
#include "heap/blocks/window.h"

#define XC_SCAN_INTERIOR 0x80000000U /* in a hit: the word does not point to the block's first byte */

enum { XC_SCAN_BATCH = 512 };

struct xc_scan {
	const struct xc_blocks *blocks;
	uint64_t lo, span; /* of blocks: only words in [lo, lo + span] can hit */
	unsigned word;     /* bytes */
	bool swap;         /* the target's byte order differs from the host's */
	void (*resolve)(struct xc_scan *scan);
	size_t count;                      /* words collected */
	uint64_t values[XC_SCAN_BATCH];    /* the words */
	uint32_t tags[XC_SCAN_BATCH];      /* the caller's tag of each word */
	uint32_t hits[XC_SCAN_BATCH];      /* after resolve: block, with XC_SCAN_INTERIOR, or XC_NO_BLOCK */
	uint32_t candidate[XC_SCAN_BATCH]; /* private to resolve */
	const struct xc_block_leaf *leaves[XC_SCAN_BATCH];
};

void xc_scan_init(struct xc_scan *scan, const struct xc_heap *heap);

/* The same without optional processor instructions, for tests. */
void xc_scan_init_plain(struct xc_scan *scan, const struct xc_heap *heap);

/* Collects possible pointers among `count` words. The first word gets `tag`; the tag increases by `step` for each
 * further one. Returns the number of words examined: fewer than count if the batch is full. Then, and at the end,
 * call resolve, use hits[0] … hits[count - 1] and set count to 0. Free blocks are never hit; blocks in unknown
 * state are. */
size_t xc_scan_collect(struct xc_scan *scan, const uint8_t *bytes, size_t count, uint32_t tag, uint32_t step);

static inline bool xc_scan_is_full(const struct xc_scan *scan)
{
	return scan->count == XC_SCAN_BATCH;
}

/* Does the block have edges? True for live blocks and those in unknown state. */
static inline bool xc_scan_has_edges(uint64_t head)
{
	unsigned state = head & 7;
	return state == XC_BLOCK_LIVE || state == XC_BLOCK_UNKNOWN;
}

/* Finds the first stored bytes of the target from *addr to hi. False if there are none. Otherwise *addr moves to
 * them, bytes_out points to them until the next call, and *len_out (at most `most`) is their number. With
 * `written`, bytes that are unchanged from a module's file are skipped. */
bool xc_scan_next(struct xc_window *window, xc_addr *addr, xc_addr hi, uint64_t most, bool written,
		  const uint8_t **bytes_out, uint64_t *len_out);

/* The same without reading: *addr moves to the beginning of the next stored piece of the space, or stays in the
 * present one. */
bool xc_scan_stored(const struct xc_space *space, xc_addr *addr, xc_addr hi, bool written);

/* The number of stored bytes from lo to hi: an upper bound of what they can contain. */
uint64_t xc_scan_stored_bytes(const struct xc_space *space, xc_addr lo, xc_addr hi);

#endif
