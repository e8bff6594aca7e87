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

/* ---- sums over the tree ---- */

struct xc_dominator_sum {
	uint64_t bytes, count;
};

/* The arrays of the caller, who owns them. */
struct xc_dominator_sums {
	/* By node, of those that are reached: its own size and 1; then those of all that it dominates, too. */
	uint64_t *bytes;
	uint32_t *count;
	uint32_t *above; /* by node: gets its dominator; of one below a holder: the holder | mark; others are left */
	uint32_t mark;
	struct xc_dominator_sum *holders; /* by holder, then of what several hold together; zeroed by the caller */
};

/* Add every node to its dominator. */
void xc_dominators_add_up(const struct xc_dominators *dominators, const struct xc_dominator_sums *sums);

/* ---- the tree downwards ---- */

struct xc_dominator_tree {
	uint32_t nodes;
	const uint32_t *above;        /* borrowed: by node, its dominator; `nodes` or more: it is at the top */
	uint32_t *first_child, *next; /* by node: 1 + the node; 0: none */
	struct xc_reserve memory[2];
};

/* 8 bytes a node. Freed with xc_dominator_tree_fini. */
void xc_dominator_tree_init(struct xc_dominator_tree *tree, const uint32_t *above, uint32_t nodes);
void xc_dominator_tree_fini(struct xc_dominator_tree *tree);

/* Walk from a node through all below it: `arrive` is called before those below a node, `leave` after them. Siblings
 * come in the order of their numbers. */
typedef void xc_dominator_tree_fn(void *user, uint32_t node);
void xc_dominator_tree_walk(const struct xc_dominator_tree *tree, uint32_t top, xc_dominator_tree_fn *arrive,
			    xc_dominator_tree_fn *leave, void *user);

#endif
