/* scan: which words of memory point into blocks.
 *
 * Words are collected first and looked up in batches: each look-up is three or four reads from memory that no cache holds, and in a
 * batch they are under way at the same time. That is what makes 30 million pointers a matter of half a second.
 * A scan belongs to one thread. */
#ifndef XC_SCAN_H
#define XC_SCAN_H

#include "heap/blocks/heap.h"
#include "heap/blocks/window.h"

#define XC_SCAN_INTERIOR 0x80000000U /* of a hit: the word points behind the block's first byte */

enum { XC_SCAN_BATCH = 512 };

struct xc_scan {
	const struct xc_blocks *blocks;
	uint64_t lo, span; /* of blocks: only words in [lo, lo + span] can hit */
	unsigned word;     /* bytes */
	bool swap;         /* the target's byte order is not ours */
	void (*resolve)(struct xc_scan *scan);
	size_t count;                      /* collected */
	uint64_t values[XC_SCAN_BATCH];    /* the words */
	uint32_t tags[XC_SCAN_BATCH];      /* what the caller knows them by */
	uint32_t hits[XC_SCAN_BATCH];      /* after resolve: block, with XC_SCAN_INTERIOR, or XC_NO_BLOCK */
	uint32_t candidate[XC_SCAN_BATCH]; /* private to resolve */
	const struct xc_block_leaf *leaves[XC_SCAN_BATCH];
};

void xc_scan_init(struct xc_scan *scan, const struct xc_heap *heap);

/* The same without the instructions that only some processors have, for tests. */
void xc_scan_init_plain(struct xc_scan *scan, const struct xc_heap *heap);

/* Collect what may be pointers among `count` words; the first one gets `tag`, each further one a tag greater by `step`. Returns how
 * many words were looked at: fewer than count when the batch is full. Then (and at the end) resolve it, use hits[0] … hits[count - 1]
 * and set count to 0. Blocks that are free are never hit; those whose state is unknown are. */
size_t xc_scan_collect(struct xc_scan *scan, const uint8_t *bytes, size_t count, uint32_t tag, uint32_t step);

static inline bool xc_scan_is_full(const struct xc_scan *scan)
{
	return scan->count == XC_SCAN_BATCH;
}

/* Is the block one that has edges? */
static inline bool xc_scan_has_edges(uint64_t head)
{
	unsigned state = head & 7;
	return state == XC_BLOCK_LIVE || state == XC_BLOCK_UNKNOWN;
}

/* The first stored bytes of the target at or behind *addr, up to hi: false when there are none, else *addr moves to them and
 * *len_out (at most `most`) of them are at the pointer returned in bytes_out until the next call. What comes unchanged from a module's
 * file is passed over when `written` is set. */
bool xc_scan_next(struct xc_window *window, xc_addr *addr, xc_addr hi, uint64_t most, bool written,
		  const uint8_t **bytes_out, uint64_t *len_out);

/* The same without reading: *addr moves to where the next stored piece of the space begins, or goes on. */
bool xc_scan_stored(const struct xc_space *space, xc_addr *addr, xc_addr hi, bool written);

/* How many bytes from lo to hi that is: what bounds how much can be in them. */
uint64_t xc_scan_stored_bytes(const struct xc_space *space, xc_addr lo, xc_addr hi);

#endif
