/* misaligned: pointers at addresses that are no multiple of a word, as packed structs have them. A scan of words passes
 * over them; only a type tells where they are. So typing finds them, and the graph takes them as edges and roots: at
 * once if it exists, else when it is made. */
#ifndef XC_MISALIGNED_H
#define XC_MISALIGNED_H

#include "heap/graph/graph.h"

struct xc_misaligned_word {
	xc_addr at;
	uint32_t from;  /* the live block that contains it, or XC_NO_BLOCK */
	uint32_t block; /* the target */
	bool interior;  /* it does not point to the target's first byte */
};

struct xc_misaligned {
	struct xc_misaligned_word *items; /* by target, then by address */
	size_t count;
};

enum { XC_MISALIGNED = 1 << 24 };

/* Gives the heap its misaligned words, once: the array (malloc'ed, at most XC_MISALIGNED) becomes the heap's. What was
 * made of a graph without them is made again on its next use. Errors: XC_ERR_LIMIT; then the graph is without them. */
XC_MUST_CHECK struct xc_error *xc_misaligned_set(struct xc_heap *heap, struct xc_misaligned_word *words, size_t count);
void xc_misaligned_free(struct xc_misaligned *misaligned); /* NULL is fine */

/* Those that lead to a block: the first one, and their number. O(log n). */
const struct xc_misaligned_word *xc_misaligned_to(const struct xc_heap *heap, uint32_t block, size_t *count_out);

#endif
