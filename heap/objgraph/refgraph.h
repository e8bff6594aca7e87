/* refgraph: the references between a program's own objects, as a plugin reports them: those of a garbage collector,
 * or of a cache.
 *
 * Nodes, references and roots are added as addresses, in any order. Then the graph is finished: nodes are sorted,
 * every address becomes the node that contains it, and addresses in no node are counted. Afterwards it answers the
 * queries that graph.h and retention.h answer for blocks.
 *
 * Memory: while adding, 18 bytes a node, 8 a reference and 12 for each row of references of one node; about 50 more
 * a node while finishing; then 26 to 38 a node and 8 a reference. Paths take 8 more a node, retention 16 (40 while
 * it is computed). */
#ifndef XC_REFGRAPH_H
#define XC_REFGRAPH_H

#include "core/base/error.h"
#include "core/base/reserve.h"
#include "core/report/stacktree.h"
#include "heap/blocks/window.h"

#define XC_NO_NODE UINT32_MAX

/* In the number of a node's predecessor: the other bits are not a node but a root's name. */
#define XC_REFGRAPH_ROOT 0x80000000U

enum { XC_REFGRAPH_NAMES = 65000, XC_REFGRAPH_MAX = 1 << 30 /* nodes; references; rows */ };

struct xc_refgraph_names {
	char **items;
	size_t count, capacity;
	uint64_t bytes; /* memory used, approximately */
};

struct xc_refgraph_root {
	xc_addr addr;
	uint32_t node; /* after finishing */
	uint32_t name;
};

/* Finds the node at an address. */
struct xc_refindex {
	unsigned slot_bits;
	/* A hash table by the upper bits of addresses: 1 + the first node that begins in that range; 0: none. */
	uint32_t *slots;
	struct xc_reserve memory;
};

/* The memory that a holder, all roots of one name, keeps alive alone. */
struct xc_refgraph_holder {
	uint64_t roots, bytes, count;
};

struct xc_refgraph {
	unsigned jobs;
	bool finished;
	struct xc_refgraph_names kinds, root_names;
	uint64_t repeated, missing, strays; /* nodes added twice; unreadable elements of scans; addresses in no node */

	/* Nodes; after finishing by address and without duplicates. */
	size_t count, node_room;
	xc_addr *addr;
	uint64_t *size;
	uint16_t *kind;

	/* While adding: the references of row r are target[row_end[r - 1]] … target[row_end[r] - 1]; the ends are
	 * without their mark. */
	size_t row_count, row_room;
	xc_addr *row_from;
	uint32_t *row_end; /* XC_REFGRAPH_ROOT: only to beginnings of nodes */
	size_t target_count, target_room;
	xc_addr *target;

	struct xc_refgraph_root *roots;
	size_t root_count, root_room;

	/* After finishing. */
	struct xc_refindex index;
	size_t edge_count;
	uint32_t *start, *to, *back_start, *back;
	struct xc_reserve memory[4];

	/* Made by the first query for the roots of a node. */
	uint64_t *rooted; /* node << 32 | root, in order: a node's roots in the order they were added */
	struct xc_reserve rooted_memory;

	/* Paths; made by the first query for one. */
	uint32_t *from;  /* by node: its predecessor on a shortest path, or a root's name; XC_NO_NODE: unreached */
	uint32_t *order; /* reached nodes, nearest first */
	size_t reached;
	struct xc_reserve way_memory[2];

	/* Retention; made by the first query for it. */
	uint32_t *above;      /* by node: its dominator; or the name of the one root that holds it; or XC_NO_NODE */
	uint64_t *kept_bytes; /* retained; 0 nodes: unreached */
	uint32_t *kept;       /* nodes retained */
	struct xc_refgraph_holder *holders; /* by root name, then those retained by several together */
	struct xc_reserve kept_memory[3];

	/* For xc_refgraph_fill. */
	uint32_t *labels; /* by node: label; NULL: kinds are labels */
	struct xc_reserve label_memory;
	struct xc_refgraph_names label_names;
};

struct xc_refgraph *xc_refgraph_new(unsigned jobs);
void xc_refgraph_free(struct xc_refgraph *graph); /* NULL is fine */

/* The bytes that it uses now. */
uint64_t xc_refgraph_bytes(const struct xc_refgraph *graph);

/* Adds a name; duplicates are not detected. */
uint32_t xc_refgraph_name(struct xc_refgraph_names *names, const char *name);

/* ---- adding ---- */

/* Is there room for so many more, without exceeding a limit? */
XC_MUST_CHECK struct xc_error *xc_refgraph_fits(const struct xc_refgraph *graph, size_t nodes, size_t rows,
						size_t targets);

/* Reserves room before adding. The other returns the bytes that this will take. */
void xc_refgraph_reserve(struct xc_refgraph *graph, size_t nodes, size_t rows, size_t targets);
uint64_t xc_refgraph_reserve_cost(const struct xc_refgraph *graph, size_t nodes, size_t rows, size_t targets);

/* Room must be reserved. */
static inline void xc_refgraph_node(struct xc_refgraph *g, xc_addr addr, uint64_t size, uint32_t kind)
{
	g->addr[g->count] = addr;
	g->size[g->count] = size;
	g->kind[g->count++] = (uint16_t)kind;
}

/* Add one more row, and a reference to the row added last. */
static inline void xc_refgraph_row(struct xc_refgraph *g, xc_addr from, bool exact)
{
	uint32_t mark = exact ? XC_REFGRAPH_ROOT : 0;
	if (g->row_count && g->row_from[g->row_count - 1] == from &&
	    (g->row_end[g->row_count - 1] & XC_REFGRAPH_ROOT) == mark)
		return;
	g->row_from[g->row_count] = from;
	g->row_end[g->row_count++] = (uint32_t)g->target_count | mark;
}

static inline void xc_refgraph_to(struct xc_refgraph *g, xc_addr target)
{
	g->target[g->target_count++] = target;
	g->row_end[g->row_count - 1]++;
}

/* Needs no reserved room. The cost is an upper bound for so many more. */
void xc_refgraph_root(struct xc_refgraph *graph, xc_addr addr, uint32_t name);
uint64_t xc_refgraph_roots_cost(const struct xc_refgraph *graph, size_t more);

/* ---- queries ---- */

/* Ends adding. The cost is the maximum of bytes used meanwhile, in addition to the present ones. */
void xc_refgraph_finish(struct xc_refgraph *graph);
uint64_t xc_refgraph_finish_cost(const struct xc_refgraph *graph);

/* The node that contains this address: the one with the highest beginning at or below it, if it is large enough. */
uint32_t xc_refgraph_find(const struct xc_refgraph *graph, xc_addr addr);

/* The same for at most XC_REFINDEX_BATCH addresses at once: hits gets the nodes. */
enum { XC_REFINDEX_BATCH = 64 };

/* The first root added that refers to the node, or NULL. The first call sorts the roots. */
const struct xc_refgraph_root *xc_refgraph_root_of(struct xc_refgraph *graph, uint32_t node);
uint64_t xc_refgraph_root_of_cost(const struct xc_refgraph *graph);

/* Make `from` and `order`; above, kept and holders. Call each once. */
void xc_refgraph_find_paths(struct xc_refgraph *graph);
uint64_t xc_refgraph_find_paths_cost(const struct xc_refgraph *graph);
void xc_refgraph_retain(struct xc_refgraph *graph);
uint64_t xc_refgraph_retain_cost(const struct xc_refgraph *graph);

/* By root name, into as many zeroed items: the nodes on shortest paths from there. Needs paths; 4 bytes a node
 * meanwhile. */
void xc_refgraph_nearest(const struct xc_refgraph *graph, uint64_t *bytes, uint64_t *counts);

struct xc_refgraph_kind {
	uint64_t count, bytes;
	uint64_t retained; /* by all of the kind, without duplicates */
	uint64_t unreached, unreached_bytes;
	uint32_t above; /* of this kind, while the tree is walked */
};

/* By kind, into as many zeroed items; needs retention. 8 bytes a node meanwhile. */
void xc_refgraph_by_kind(const struct xc_refgraph *graph, struct xc_refgraph_kind *kinds);

/* The largest nodes of one kind, or of any (UINT32_MAX), into `nodes`, largest first; returns their number. Ordered
 * by retained bytes (needs retention) or by size. */
size_t xc_refgraph_top(const struct xc_refgraph *graph, bool by_retained, uint32_t kind, uint32_t *nodes, size_t limit);

/* Reserve and free the labels of nodes. */
void xc_refgraph_label(struct xc_refgraph *graph);
void xc_refgraph_unlabel(struct xc_refgraph *graph);

/* Adds the reached nodes to an initialised tree, by shortest paths or by dominators (made before), with their
 * labels as frames. A label that is already on the path is not entered again. XC_ERR_LIMIT for more than `most` new
 * frames. */
XC_MUST_CHECK struct xc_error *xc_refgraph_fill(struct xc_refgraph *graph, struct xc_stacktree *tree, bool by_dominator,
						unsigned depth, size_t most);

#endif
