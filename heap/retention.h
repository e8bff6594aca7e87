/* retention: what each block keeps alive: the memory that would be free if it were.
 *
 * Block d dominates b when every chain of pointers from the roots to b passes d. Dominators form a tree under one node that stands
 * for all roots; the retained size of a block is the size of its subtree. Made from the graph (both ways) by Lengauer
 * and Tarjan's algorithm in near-linear time; 16 bytes a block stay. */
#ifndef XC_RETENTION_H
#define XC_RETENTION_H

#include "graph.h"

struct xc_retention {
	const struct xc_heap *heap;
	uint32_t *
		dominator; /* by block: the block that dominates it next; XC_NO_BLOCK: only all roots together do, or it is not reached */
	uint64_t *bytes; /* by block: retained, itself included; 0 for what is not reached */
	uint32_t *count; /* blocks retained, itself included */
	struct xc_reserve memory[3];
};

XC_MUST_CHECK struct xc_error *xc_retention_of(struct xc_heap *heap, struct xc_retention **retention_out);
void xc_retention_free(struct xc_retention *retention); /* NULL is fine */

#endif
