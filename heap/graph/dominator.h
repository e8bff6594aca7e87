/* dominator: the dominators of nodes in a graph with roots.
 *
 * Node d dominates n if every path from the roots to n passes through d; the last such node is n's dominator.
 * Dominators form a tree under one vertex that represents all roots. Between it and the nodes is a vertex for each
 * holder, a set of roots: a holder dominates what nothing else leads to.
 *
 * Vertices are numbered in depth-first order: 0 is all roots, and each comes after its dominator. So sums over the
 * tree are loops over numbers, downwards to add up and upwards to distribute. Near-linear time; 24 bytes a node
 * during the search, of which 8 remain. */
#ifndef XC_DOMINATOR_H
#define XC_DOMINATOR_H

#include "core/base/reserve.h"
#include "heap/graph/adjacency.h"

struct xc_dominators {
	/* input; borrowed */
	struct xc_adjacency links, back;
	uint32_t holders;      /* how many */
	const uint32_t *begin; /* holders + 1: the roots of holder h are roots[begin[h]] … roots[begin[h + 1] - 1] */
	const uint32_t *roots; /* nodes; may contain duplicates */

	/* result */
	uint32_t count;   /* of vertices, number 0 included */
	uint32_t *vertex; /* by number from 1: the node; or nodes + the holder */
	uint32_t *above;  /* by number: the number of its dominator */
	struct xc_reserve memory[2];
};

void xc_dominators_find(struct xc_dominators *dominators);
void xc_dominators_fini(struct xc_dominators *dominators);

#endif
