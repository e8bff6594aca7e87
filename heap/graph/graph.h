/* graph: who points to whom: blocks, the pointers between them, and the roots that keep them alive.
 *
 * Every aligned word of a live block whose value lies in another live block (interior addresses included) is an edge; every such word
 * outside the heap is a root. Free blocks have no edges: what still lies in them is history.
 * Edges are kept in compressed rows: those of block b are to[start[b]] … to[start[b + 1] - 1], in the order of their words, without
 * the offsets, which a look at the block's memory gives again. Making them reads all live blocks once, in parallel;
 * it costs 4 bytes a block and 4 bytes an edge, and the same again for the way back. */
#ifndef XC_GRAPH_H
#define XC_GRAPH_H

#include "heap/blocks/heap.h"
#include "heap/graph/roots.h"

#define XC_EDGE_INTERIOR 0x80000000U /* of an edge: it points behind the first byte of the block */

struct xc_graph {
	const struct xc_heap *heap;
	struct xc_root *roots; /* by kind, then by address; see roots.h for what is kept */
	size_t root_count;
	uint64_t
		missing_roots; /* bytes where roots may lie, but which could not be read: what seems leaked need not be */
	uint64_t missing_blocks;     /* bytes of live blocks that could not be read */
	size_t threads_without_regs; /* their stacks are roots as a whole */
	uint32_t *start, *to;        /* forward rows; to has XC_EDGE_INTERIOR in it */
	uint32_t *back_start, *back; /* the way back, without flags; NULL until xc_graph_back */
	size_t edge_count;
	uint64_t *reached;           /* bit per block: by some chain of pointers from a root */
	uint64_t *surely;            /* bit per block: by a chain of pointers to beginnings */
	struct xc_reserve memory[5]; /* start, to, back_start, back, first_root */
	uint32_t *first_root;        /* by block: index of its best root + 1, or 0; NULL until a path is asked for */
};

/* The graph with its roots and what they reach; made on first use. Limit: 2^32 - 2 edges; more are an error (XC_ERR_LIMIT).
 * `adding` plugins' roots and edges comes before (claim.h). */
XC_MUST_CHECK struct xc_error *xc_graph_of(struct xc_heap *heap, struct xc_graph **graph_out);
void xc_graph_free(struct xc_graph *graph); /* NULL is fine */

/* Make the way back, once. */
void xc_graph_back(struct xc_graph *graph);

static inline bool xc_graph_bit(const uint64_t *bits, uint32_t block)
{
	return bits[block >> 6] >> (block & 63) & 1;
}

/* Leaked: live, and no root reaches it. Possibly leaked: reached, but only through an interior pointer somewhere. */
static inline bool xc_graph_leaked(const struct xc_graph *graph, uint32_t block)
{
	return xc_block_state(&graph->heap->blocks, block) == XC_BLOCK_LIVE && !xc_graph_bit(graph->reached, block);
}

static inline bool xc_graph_possibly_leaked(const struct xc_graph *graph, uint32_t block)
{
	return xc_graph_bit(graph->reached, block) && !xc_graph_bit(graph->surely, block);
}

/* The shortest chain from a root to a block: path_out gets the blocks from the one the root points to up to `block` (malloc'ed, the
 * caller's), root_out the root (roots that come first in enum xc_root_kind are preferred among equally short ones). 0, and nothing is
 * set, when no root reaches it. */
size_t xc_graph_path(struct xc_graph *graph, uint32_t block, uint32_t **path_out, const struct xc_root **root_out);

#endif
