/* inner_pointer: pointers to a part of an object: to the links of an intrusive list, to a second base class. They lead
 * into the middle of a block, but not by accident: only types tell. So typing finds them, and the graph takes them for
 * as good as pointers to the block's beginning: at once if it exists, else when it is made. The same for the links of
 * lists that look like those of a free list (graph_stale.c). */
#ifndef XC_INNER_POINTER_H
#define XC_INNER_POINTER_H

#include "heap/graph/graph.h"

struct xc_inner_pointer {
	xc_addr at;
	uint32_t from;  /* the live block that contains it, or XC_NO_BLOCK: it is in memory outside of blocks */
	uint32_t block; /* the target */
};

struct xc_inner_pointers {
	struct xc_inner_pointer *items; /* by source, then by address */
	size_t count;
};

enum { XC_INNER_POINTERS = 1 << 24 };

/* Could such a pointer to the block matter? Not if the graph exists and has better ones. */
bool xc_inner_pointers_matter(const struct xc_heap *heap, uint32_t block);

/* Could it matter that a block's first word is a link of a list? */
bool xc_inner_link_matters(const struct xc_heap *heap, uint32_t from);

/* One of these for any block. */
bool xc_inner_pointers_matter_at_all(const struct xc_heap *heap);

/* Is the block's first word one of the heap's pointers? O(log n). */
bool xc_inner_pointer_first(const struct xc_heap *heap, uint32_t from);

/* Gives the heap its pointers, once: the array (malloc'ed, at most XC_INNER_POINTERS) becomes the heap's. A graph that
 * exists is searched again. */
void xc_inner_pointers_set(struct xc_heap *heap, struct xc_inner_pointer *pointers, size_t count);
void xc_inner_pointers_free(struct xc_inner_pointers *pointers); /* NULL is fine */

#endif
