/* Every block gets the frame of its holder's child for its type (folding.h). */
#include "heap/report/memory_tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/reserve.h"
#include "heap/graph/folding.h"
#include "heap/graph/graph.h"
#include "heap/graph/retention.h"
#include "heap/query/rootword.h"
#include "heap/types/typing.h"

enum { DEEPEST = 99 }; /* frames */

struct grower {
	struct xc_stacktree *tree;
	struct xc_heap *heap;
	enum xc_memory_tree_kind kind;
	const struct xc_graph *graph;
	const struct xc_typing *typing;
	struct xc_stacktree_node **nodes; /* by block */
	struct xc_reserve memory[2];
	uint32_t *queue; /* blocks to continue from */
	size_t head, tail;
	struct xc_folding folding;
};

static const char *type_of(void *user, uint32_t block)
{
	const char *name = xc_typing_name(user, block);
	return name ? name : "(untyped)";
}

static void put(struct grower *g, struct xc_stacktree_node *parent, uint32_t block)
{
	g->nodes[block] = xc_folding_frame(&g->folding, parent, g->typing->by_block[block], type_of,
					   (void *)(uintptr_t)g->typing, block);
	xc_stacktree_put(g->nodes[block], xc_block_size(&g->heap->blocks, block));
}

/* ---- along pointers ---- */

static bool leaked(const struct grower *g, uint32_t block)
{
	return xc_graph_leaked(g->graph, block);
}

static bool held(const struct grower *g, uint32_t block)
{
	return xc_graph_bit(g->graph->reached, block);
}

/* Follows all pointers from the blocks in the queue to blocks that `belongs` accepts. */
static void spread(struct grower *g, bool (*belongs)(const struct grower *g, uint32_t block))
{
	const struct xc_graph *graph = g->graph;
	while (g->head < g->tail) {
		uint32_t from = g->queue[g->head++];
		for (uint32_t edge = graph->start[from]; edge < graph->start[from + 1]; edge++) {
			uint32_t to = graph->to[edge] & ~XC_EDGE_INTERIOR;
			if (g->nodes[to] || !belongs(g, to))
				continue;
			put(g, g->nodes[from], to);
			g->queue[g->tail++] = to;
		}
	}
}

static void begin(struct grower *g, struct xc_stacktree_node *root, uint32_t block)
{
	if (g->nodes[block])
		return;
	put(g, root, block);
	g->queue[g->tail++] = block;
}

static struct xc_stacktree_node *root_node(struct grower *g, const struct xc_root *root)
{
	struct xc_text label = {0};
	(g->kind == XC_MEMORY_TREE_MODULES ? xc_rootword_module : xc_rootword_label)(g->heap, root, &label);
	struct xc_stacktree_node *node = xc_stacktree_grow(g->tree, &g->tree->root, xc_text_string(&label), 0);
	xc_text_fini(&label);
	return node;
}

/* First everything reached from globals, then what only the roots of the next kind reach: roots are ordered by
 * kind. So a stale word on a stack that points into the middle of a list claims nothing that the list's head holds. */
static void fill_heap(struct grower *g)
{
	const struct xc_graph *graph = g->graph;
	for (size_t i = 0; i < graph->root_count; i++) {
		if (!g->nodes[graph->roots[i].block])
			begin(g, root_node(g, &graph->roots[i]), graph->roots[i].block);
		if (i + 1 == graph->root_count || graph->roots[i + 1].kind != graph->roots[i].kind)
			spread(g, held);
	}
}

/* ---- leaks ---- */

/* Heads first: blocks that no other leaked block points to. Cycles remain; each is entered at its lowest block. */
static void fill_leaks(struct grower *g)
{
	const struct xc_graph *graph = g->graph;
	size_t count = g->heap->blocks.count;
	uint64_t *pointed = xc_graph_bits(count);
	for (uint32_t from = 0; from < count; from++)
		for (uint32_t edge = graph->start[from]; leaked(g, from) && edge < graph->start[from + 1]; edge++) {
			uint32_t to = graph->to[edge] & ~XC_EDGE_INTERIOR;
			if (to != from)
				xc_graph_set_bit(pointed, to);
		}
	for (uint32_t block = 0; block < count; block++)
		if (leaked(g, block) && !xc_graph_bit(pointed, block))
			begin(g, &g->tree->root, block);
	spread(g, leaked);
	for (uint32_t block = 0; block < count; block++)
		if (leaked(g, block) && !g->nodes[block]) {
			begin(g, &g->tree->root, block);
			spread(g, leaked);
		}
	free(pointed);
}

/* ---- retention ---- */

/* Enters a block and all its missing ancestors. The queue serves as the stack. */
static void put_below_dominator(struct grower *g, const struct xc_retention *retention, uint32_t block)
{
	size_t depth = 0;
	for (; block != XC_NO_BLOCK && !g->nodes[block]; block = retention->dominator[block])
		g->queue[depth++] = block;
	while (depth > 0) {
		uint32_t at = g->queue[--depth], above = retention->dominator[at];
		put(g, above == XC_NO_BLOCK ? &g->tree->root : g->nodes[above], at);
	}
}

static void fill_retained(struct grower *g, const struct xc_retention *retention)
{
	for (uint32_t block = 0; block < g->heap->blocks.count; block++)
		if (held(g, block))
			put_below_dominator(g, retention, block);
}

/* ---- all parts ---- */

static struct xc_error *prepare(struct grower *g, struct xc_retention **retention)
{
	struct xc_graph *graph;
	struct xc_typing *typing;
	struct xc_error *err;
	if ((err = xc_graph_of(g->heap, &graph)) || (err = xc_typing_of(g->heap, &typing)))
		return err;
	g->graph = graph;
	g->typing = typing;
	return g->kind == XC_MEMORY_TREE_RETAINED ? xc_retention_of(g->heap, retention) : NULL;
}

struct xc_error *xc_memory_tree_fill(struct xc_stacktree *tree, struct xc_heap *heap, enum xc_memory_tree_kind kind)
{
	struct grower g = {.tree = tree, .heap = heap, .kind = kind};
	struct xc_retention *retention = NULL;
	struct xc_error *err = prepare(&g, &retention);
	if (err || heap->blocks.count == 0)
		return err;
	g.memory[0] = xc_reserve_new(heap->blocks.count, sizeof *g.nodes);
	g.memory[1] = xc_reserve_new(heap->blocks.count, sizeof *g.queue);
	g.nodes = g.memory[0].items;
	g.queue = g.memory[1].items;
	xc_folding_init(&g.folding, tree, DEEPEST);
	tree->grown = true;
	tree->things = "blocks";
	if (kind == XC_MEMORY_TREE_RETAINED)
		fill_retained(&g, retention);
	else if (kind == XC_MEMORY_TREE_LEAKS)
		fill_leaks(&g);
	else
		fill_heap(&g);
	xc_folding_fini(&g.folding);
	for (size_t i = 0; i < XC_COUNT(g.memory); i++)
		xc_reserve_free(&g.memory[i]);
	return NULL;
}
