/* Like memory_tree.c for blocks: every node gets the frame of its holder's child for its label. */
#include "heap/graph/folding.h"
#include "heap/objgraph/refgraph.h"

struct filler {
	struct xc_refgraph *graph;
	struct xc_stacktree *tree;
	struct xc_folding folding;
	const uint32_t *above;             /* by node: the node or root above it */
	struct xc_stacktree_node **frames; /* by node */
	uint32_t *stack;
	struct xc_reserve memory[2];
	size_t most; /* frames */
};

static const char *label_of(void *user, uint32_t node)
{
	const struct xc_refgraph *g = user;
	return g->labels ? g->label_names.items[g->labels[node]] : g->kinds.items[g->kind[node]];
}

static struct xc_stacktree_node *root_frame(const struct filler *f, uint32_t above)
{
	const char *name =
		above == XC_NO_NODE ? "(several roots)" : f->graph->root_names.items[above & ~XC_REFGRAPH_ROOT];
	return xc_stacktree_grow(f->tree, &f->tree->root, name, 0);
}

static void put(struct filler *f, uint32_t node)
{
	struct xc_refgraph *g = f->graph;
	uint32_t above = f->above[node], label = g->labels ? g->labels[node] : g->kind[node];
	struct xc_stacktree_node *parent = above < g->count ? f->frames[above] : root_frame(f, above);
	f->frames[node] = xc_folding_frame(&f->folding, parent, label, label_of, g, node);
	xc_stacktree_put(f->frames[node], g->size[node]);
}

/* A node and all its ancestors without a frame. */
static void put_all(struct filler *f, uint32_t node)
{
	size_t depth = 0;
	for (; node < f->graph->count && !f->frames[node]; node = f->above[node])
		f->stack[depth++] = node;
	while (depth > 0)
		put(f, f->stack[--depth]);
}

static bool is_reached(const struct xc_refgraph *g, uint32_t node, bool by_dominator)
{
	return by_dominator ? g->kept[node] > 0 : g->from[node] != XC_NO_NODE;
}

struct xc_error *xc_refgraph_fill(struct xc_refgraph *g, struct xc_stacktree *tree, bool by_dominator, unsigned depth,
				  size_t most)
{
	struct filler f = {.graph = g, .tree = tree, .above = by_dominator ? g->above : g->from};
	struct xc_error *err = NULL;
	size_t before = tree->node_count;
	f.memory[0] = xc_reserve_new(g->count, sizeof *f.frames);
	f.memory[1] = xc_reserve_new(g->count, sizeof *f.stack);
	f.frames = f.memory[0].items;
	f.stack = f.memory[1].items;
	xc_folding_init(&f.folding, tree, depth);
	tree->things = "objects";
	for (size_t i = 0; !err && i < (by_dominator ? g->count : g->reached); i++) {
		uint32_t node = by_dominator ? (uint32_t)i : g->order[i];
		if (is_reached(g, node, by_dominator))
			put_all(&f, node);
		if (tree->node_count - before > most)
			err = xc_error_new(XC_ERR_LIMIT, "more than %zu different paths", most);
	}
	xc_folding_fini(&f.folding);
	xc_reserve_free(&f.memory[0]);
	xc_reserve_free(&f.memory[1]);
	return err;
}
