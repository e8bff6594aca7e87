/* leak_structures: the leaked blocks as structures, each with the block that leads to all its others. Which block is
 * leaked, xc_graph_leaked decides (graph.h).
 *
 * A head is a leaked block that no other leaked block points to. In a cycle that no other leaked block points to,
 * the lowest block is the head. Every leaked block belongs to the first head (by address) that leads to it. */
#ifndef XC_LEAK_STRUCTURES_H
#define XC_LEAK_STRUCTURES_H

#include "heap/graph/graph.h"

struct xc_leak_structures {
	const struct xc_graph *graph;
	uint32_t *blocks; /* ascending */
	size_t count;
	uint32_t *parent; /* by place in blocks: the place of its predecessor; its own for heads */
	uint32_t *head;   /* by place: the place of its head */
	/* Places: each structure together, breadth-first from its head; structures by address of heads, cycles last. */
	uint32_t *order;
	size_t head_count;
	uint64_t *bits; /* per block: is it one of these? */
	uint32_t *rank; /* by word of bits: the number of bits before */
};

/* Finds leaked blocks or, with `possible`, those that are possibly leaked (graph.h). No recursion; linear in
 * blocks and their pointers. About 30 bytes for each leaked block. */
void xc_leak_structures_find(struct xc_leak_structures *leaked, const struct xc_graph *graph, bool possible);
void xc_leak_structures_fini(struct xc_leak_structures *leaked);

/* The place of a block in blocks, or XC_NO_BLOCK. */
static inline uint32_t xc_leak_structures_place(const struct xc_leak_structures *leaked, uint32_t block)
{
	uint64_t word = leaked->bits[block >> 6], bit = UINT64_C(1) << (block & 63);
	return word & bit ? leaked->rank[block >> 6] + (uint32_t)__builtin_popcountll(word & (bit - 1)) : XC_NO_BLOCK;
}

#endif
