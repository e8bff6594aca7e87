/* dominator: which node stands on every way to another, in a graph with roots.
 *
 * Node d dominates n when every chain of links from the roots to n passes d; the last such one is n's dominator. Dominators form a tree
 * under one vertex for all roots. Between it and the nodes stands one for each holder, a set of roots: what a holder dominates,
 * nothing else leads to.
 *
 * Vertices are numbered in the order of a search in depth: 0 is all roots, and each comes behind its dominator. So sums
 * over the tree are loops over numbers, downwards to add up, upwards to hand down. Near-linear in time; 24 bytes a node meanwhile, 8 of
 * which stay. */
#ifndef XC_DOMINATOR_H
#define XC_DOMINATOR_H

#include "core/base/reserve.h"
#include "heap/graph/adjacency.h"

struct xc_dominators {
	/* given; borrowed */
	struct xc_adjacency links, back;
	uint32_t holders;      /* how many */
	const uint32_t *begin; /* holders + 1: the roots of holder h are roots[begin[h]] … roots[begin[h + 1] - 1] */
	const uint32_t *roots; /* nodes; some may be there more than once */

	/* found */
	uint32_t count;   /* of vertices, number 0 included */
	uint32_t *vertex; /* by number from 1 on: the node; or nodes + the holder */
	uint32_t *above;  /* by number: the number of its dominator */
	struct xc_reserve memory[2];
};

void xc_dominators_find(struct xc_dominators *dominators);
void xc_dominators_fini(struct xc_dominators *dominators);

#endif
