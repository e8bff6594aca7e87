/* layer: heap tier: check
 *
 * A node's retained size in a plugin's graph against removing the node, the graph's flame graphs, and both against the
 * heap's own graph and retention. */
#include "heap/objgraph/refgraph.h"
#include "heap/graph/retention.h"
#include "tests/support/property.h"
#include "tests/support/heapmade.h"
#include "tests/unit/heap/objgraph/told_graph.h"

/* ---- retention ---- */

struct loss {
	uint64_t bytes, count;
};

/* Is node a on every path to b? */
static bool dominates(const struct told *t, const unsigned *all, size_t a, size_t b)
{
	unsigned some[MOST];
	distances(t, a, NAMES, some);
	return a != b && all[b] != FAR && some[b] == FAR;
}

static void check_dominator(struct rng *rng, const struct told *t, const unsigned *all, size_t node)
{
	const struct xc_refgraph *g = t->graph;
	uint32_t above = g->above[xc_refgraph_find(g, t->addr[node])];
	for (size_t i = 0; i < t->nodes; i++) {
		if (t->again[i] || !dominates(t, all, i, node))
			continue;
		PROPERTY_CHECK(rng, above < g->count);
		size_t nearest = node_of(t, g->addr[above]);
		PROPERTY_CHECK(rng,
			       dominates(t, all, nearest, node) && (i == nearest || dominates(t, all, i, nearest)));
	}
}

static void check_holders(struct rng *rng, const struct told *t, const unsigned *all)
{
	uint64_t bytes, count, held = 0, reached = 0;
	unsigned some[MOST];
	for (unsigned name = 0; name < NAMES; name++) {
		distances(t, MOST, name, some);
		lost(t, all, some, &bytes, &count);
		PROPERTY_CHECK(rng, t->graph->holders[name].bytes == bytes && t->graph->holders[name].count == count);
		held += bytes;
	}
	for (size_t i = 0; i < t->nodes; i++)
		reached += all[i] == FAR ? 0 : t->size[i];
	PROPERTY_CHECK(rng, t->graph->holders[NAMES].bytes == reached - held);
}

/* For each kind, the memory retained by nodes that no other node of the kind dominates. */
static void check_kinds(struct rng *rng, const struct told *t, const unsigned *all, const struct loss *loss)
{
	struct xc_refgraph_kind kinds[KINDS] = {{0}};
	xc_refgraph_by_kind(t->graph, kinds);
	for (unsigned kind = 0; kind < KINDS; kind++) {
		struct xc_refgraph_kind want = {0};
		for (size_t i = 0; i < t->nodes; i++) {
			if (t->again[i] || t->kind[i] != kind)
				continue;
			bool covered = all[i] == FAR;
			for (size_t k = 0; k < t->nodes && !covered; k++)
				covered = !t->again[k] && t->kind[k] == kind && dominates(t, all, k, i);
			want.count++;
			want.bytes += t->size[i];
			want.retained += covered ? 0 : loss[i].bytes;
			want.unreached += all[i] == FAR;
			want.unreached_bytes += all[i] == FAR ? t->size[i] : 0;
		}
		PROPERTY_CHECK(rng, memcmp(&want, &kinds[kind], sizeof want) == 0);
	}
}

static void check_top(struct rng *rng, const struct told *t, bool by_retained, unsigned kind)
{
	const struct xc_refgraph *g = t->graph;
	uint32_t nodes[MOST];
	size_t limit = rng_below(rng, 12), count = xc_refgraph_top(g, by_retained, kind, nodes, limit), fitting = 0;
	const uint64_t *weight = by_retained ? g->kept_bytes : g->size;
	for (uint32_t i = 0; i < g->count; i++) {
		bool fits = (kind == UINT32_MAX || g->kind[i] == kind) && (!by_retained || g->kept[i]), told = false;
		fitting += fits;
		for (size_t k = 0; k < count; k++)
			told |= nodes[k] == i;
		PROPERTY_CHECK(rng, !told || fits);
		PROPERTY_CHECK(rng, told || !fits || count == limit);
		PROPERTY_CHECK(rng, told || !fits || !count || weight[i] <= weight[nodes[count - 1]]);
	}
	PROPERTY_CHECK(rng, count == (fitting < limit ? fitting : limit));
	for (size_t k = 1; k < count; k++)
		PROPERTY_CHECK(rng, weight[nodes[k]] < weight[nodes[k - 1]] ||
					    (weight[nodes[k]] == weight[nodes[k - 1]] && nodes[k] > nodes[k - 1]));
}

PROPERTY(retained_is_what_is_lost, 10, 60)
{
	struct told t = tell(rng);
	struct loss loss[MOST] = {{0}};
	unsigned all[MOST], some[MOST];
	distances(&t, MOST, NAMES, all);
	for (size_t i = 0; i < t.nodes; i++) {
		uint32_t node = xc_refgraph_find(t.graph, t.addr[i]);
		if (t.again[i])
			continue;
		distances(&t, i, NAMES, some);
		lost(&t, all, some, &loss[i].bytes, &loss[i].count);
		PROPERTY_CHECK(rng, t.graph->kept_bytes[node] == loss[i].bytes && t.graph->kept[node] == loss[i].count);
		check_dominator(rng, &t, all, i);
	}
	check_holders(rng, &t, all);
	check_kinds(rng, &t, all, loss);
	check_top(rng, &t, true, UINT32_MAX);
	check_top(rng, &t, false, UINT32_MAX);
	check_top(rng, &t, rng_below(rng, 2), 1);
	xc_refgraph_free(t.graph);
}

/* ---- flame graphs ---- */

/* The frames of a node: the labels from the root's name down, where a repeated label cuts the path. */
static size_t frames_of(const struct told *t, const uint32_t *above, uint32_t node, unsigned depth, const char **frames)
{
	const struct xc_refgraph *g = t->graph;
	uint32_t chain[MOST], at = node;
	size_t length = 0, count = 0;
	for (; at < g->count; at = above[at])
		chain[length++] = at;
	frames[count++] = at == XC_NO_NODE ? "(several roots)" : g->root_names.items[at & ~XC_REFGRAPH_ROOT];
	while (length > 0) {
		const char *label = g->kinds.items[g->kind[chain[--length]]];
		size_t same = 0;
		while (same < count && strcmp(frames[same], label) != 0)
			same++;
		if (same < count)
			count = same + 1;
		else if (count < depth)
			frames[count++] = label;
	}
	return count;
}

static uint64_t *weight_at(const struct xc_stacktree *tree, const char *const *frames, size_t count)
{
	const struct xc_stacktree_node *node = &tree->root;
	for (size_t i = 0; i < count && node; i++) {
		const struct xc_stacktree_node *child = node->children;
		while (child && strcmp(child->name, frames[i]) != 0)
			child = child->next;
		node = child;
	}
	return node ? (uint64_t *)(uintptr_t)&node->self : NULL;
}

static void check_tree(struct rng *rng, const struct told *t, bool by_dominator)
{
	const struct xc_refgraph *g = t->graph;
	struct xc_stacktree tree;
	const char *frames[MOST + 1];
	unsigned depth = 1 + (unsigned)rng_below(rng, 5);
	uint64_t total = 0;
	xc_stacktree_init(&tree, "t", "bytes");
	CHECK_OK(xc_refgraph_fill(t->graph, &tree, by_dominator, depth, 1000));
	xc_stacktree_finish(&tree);
	for (uint32_t node = 0; node < g->count; node++) {
		if (!g->kept[node])
			continue;
		size_t count = frames_of(t, by_dominator ? g->above : g->from, node, depth, frames);
		uint64_t *self = weight_at(&tree, frames, count);
		PROPERTY_CHECK(rng, self && *self >= g->size[node]);
		*self -= g->size[node];
		total += g->size[node];
	}
	PROPERTY_CHECK(rng, tree.root.total == total);
	size_t at = 0;
	for (const struct xc_stacktree_node *node = &tree.root; node; node = xc_stacktree_next(node, &at))
		PROPERTY_CHECK(rng, node->self == 0); /* everything was removed again */
	xc_stacktree_fini(&tree);
}

PROPERTY(each_node_is_in_its_frame, 60, 300)
{
	struct told t = tell(rng);
	check_tree(rng, &t, false);
	check_tree(rng, &t, true);
	xc_refgraph_free(t.graph);
}

static void too_many_frames_are_a_limit(void **state)
{
	(void)state;
	struct xc_refgraph *g = xc_refgraph_new(1);
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "bytes");
	xc_refgraph_reserve(g, 2, 1, 1);
	xc_refgraph_node(g, 0x1000, 8, xc_refgraph_name(&g->kinds, "a"));
	xc_refgraph_node(g, 0x2000, 8, xc_refgraph_name(&g->kinds, "b"));
	xc_refgraph_row(g, 0x1000, false);
	xc_refgraph_to(g, 0x2000);
	xc_refgraph_root(g, 0x1000, xc_refgraph_name(&g->root_names, "r"));
	xc_refgraph_finish(g);
	xc_refgraph_find_paths(g);
	CHECK_ERROR(xc_refgraph_fill(g, &tree, false, 100, 2), XC_ERR_LIMIT, "more than 2 different paths");
	xc_stacktree_fini(&tree);
	xc_refgraph_free(g);
}

/* ---- compared with the heap's own ---- */

static struct xc_refgraph *of_heap(const struct heapmade *m)
{
	const struct xc_graph *graph = m->heap->graph;
	struct xc_refgraph *g = xc_refgraph_new(2);
	uint32_t kind = xc_refgraph_name(&g->kinds, "block"), name = xc_refgraph_name(&g->root_names, "all");
	xc_refgraph_reserve(g, m->heap->blocks.count, m->heap->blocks.count, graph->edge_count);
	for (uint32_t i = 0; i < m->heap->blocks.count; i++) {
		xc_addr addr = xc_block_addr(&m->heap->blocks, i);
		xc_refgraph_node(g, addr, xc_block_size(&m->heap->blocks, i), kind);
		xc_refgraph_row(g, addr, false);
		for (uint32_t e = graph->start[i]; e < graph->start[i + 1]; e++)
			xc_refgraph_to(g, xc_block_addr(&m->heap->blocks, graph->to[e] & ~XC_EDGE_INTERIOR));
	}
	for (size_t i = 0; i < graph->root_count; i++)
		xc_refgraph_root(g, xc_block_addr(&m->heap->blocks, graph->roots[i].block), name);
	xc_refgraph_finish(g);
	xc_refgraph_retain(g);
	return g;
}

static void a_heap_told_as_a_graph_retains_the_same(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct heapmade *m = hm_random(2000, 0);
		struct xc_retention *r;
		uint32_t count = (uint32_t)m->heap->blocks.count;
		for (uint32_t k = 0; k < count * 3 / 2; k++) {
			uint32_t from = (uint32_t)hm_any(count);
			*hm_word(m, from, hm_any(xc_block_size(&m->heap->blocks, from) / 8)) =
				hm_pointer(m, (uint32_t)hm_any(count), 5);
		}
		for (unsigned k = 0; k < 10; k++)
			m->data[hm_any(HM_WORDS)] = hm_pointer(m, (uint32_t)hm_any(count), 4);
		CHECK_OK(xc_retention_of(m->heap, &r));
		struct xc_refgraph *g = of_heap(m);
		for (uint32_t b = 0; b < count; b++) {
			assert_int_equal(g->kept_bytes[b], r->bytes[b]);
			assert_int_equal(g->kept[b], r->count[b]);
			assert_int_equal(g->above[b] < count ? g->above[b] : XC_NO_BLOCK, r->dominator[b]);
		}
		xc_refgraph_free(g);
		hm_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retained_is_what_is_lost),
		cmocka_unit_test(each_node_is_in_its_frame),
		cmocka_unit_test(too_many_frames_are_a_limit),
		cmocka_unit_test(a_heap_told_as_a_graph_retains_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
