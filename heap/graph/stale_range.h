/* stale_range: memory whose words look like pointers although the program does not mean them: the room of a vector or
 * deque outside of its elements, the empty buckets of a hash table, and the ends of arrays, where the next block
 * begins. Only types tell where it is. What only such words reach is possibly leaked. */
#ifndef XC_STALE_RANGE_H
#define XC_STALE_RANGE_H

#include "heap/graph/graph.h"

enum xc_stale_range_kind {
	XC_STALE_ROOM,   /* of a vector or deque, outside of its elements */
	XC_STALE_BUCKET, /* of a hash table, without an element */
	XC_STALE_END,    /* a pointer to the end of an array */
};

struct xc_stale_range {
	xc_addr lo, hi;   /* inclusive */
	const char *name; /* "items", "items of main"; of a container in a block the block's type; NULL: not known */
	bool in_block;    /* the container is in a block */
	enum xc_stale_range_kind kind;
};

/* A word in such a range that is an edge or a root. */
struct xc_stale_word {
	xc_addr at;
	uint32_t block; /* the target */
	uint32_t edge;  /* index; UINT32_MAX: it is a root */
	uint32_t range;
};

struct xc_stale_ranges {
	struct xc_stale_range *items; /* by address */
	size_t count;
};

enum { XC_STALE_RANGES = 1 << 22 };

/* Gives the heap its ranges, once: the array (malloc'ed) becomes the heap's. A graph that exists is searched again. */
void xc_stale_ranges_set(struct xc_heap *heap, struct xc_stale_range *ranges, size_t count);
void xc_stale_ranges_free(struct xc_stale_ranges *ranges); /* NULL is fine */

/* Is the address in one of the heap's ranges? False before types are inferred. */
bool xc_stale_ranges_have(const struct xc_heap *heap, xc_addr at);

#endif
