/* layer: heap
 *
 * A plugin's graph against definitions: the node of an address by linear search, distances by iteration until nothing
 * changes, a node's retained size by removing it; and against the heap's own graph and retention. */
#include "heap/objgraph/refgraph_scan.h"
#include "heap/graph/retention.h"
#include "tests/support/property.h"
#include "tests/support/heapmade.h"

#include <time.h>

enum { MOST = 60, EDGES = 200, ROOTS = 8, KINDS = 3, NAMES = 3, FAR = 1000 };

/* The graph as it was added, and the answers that follow by definition. */
struct told {
	struct xc_refgraph *graph;
	size_t nodes, edges, roots;
	xc_addr addr[MOST];
	uint64_t size[MOST];
	unsigned kind[MOST];
	bool again[MOST]; /* added before */
	xc_addr from[EDGES], to[EDGES];
	xc_addr root[ROOTS];
	unsigned name[ROOTS];
};

static size_t node_of(const struct told *t, xc_addr addr)
{
	size_t best = MOST;
	for (size_t i = 0; i < t->nodes; i++)
		if (!t->again[i] && t->addr[i] <= addr && (best == MOST || t->addr[i] > t->addr[best]))
			best = i;
	return best != MOST && (addr == t->addr[best] || addr - t->addr[best] < t->size[best]) ? best : MOST;
}

/* Steps from a root; FAR if unreached. Without node `away`, or the roots of a name. */
static void distances(const struct told *t, size_t away, unsigned name, unsigned *distance)
{
	for (size_t i = 0; i < t->nodes; i++)
		distance[i] = FAR;
	for (size_t i = 0; i < t->roots; i++) {
		size_t node = node_of(t, t->root[i]);
		if (node != MOST && node != away && t->name[i] != name)
			distance[node] = 1;
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t e = 0; e < t->edges; e++) {
			size_t from = node_of(t, t->from[e]), to = node_of(t, t->to[e]);
			if (from == MOST || to == MOST || to == away || distance[from] == FAR ||
			    distance[to] <= distance[from] + 1)
				continue;
			distance[to] = distance[from] + 1;
			changed = true;
		}
	}
}

static void lost(const struct told *t, const unsigned *all, const unsigned *some, uint64_t *bytes, uint64_t *count)
{
	*bytes = *count = 0;
	for (size_t i = 0; i < t->nodes; i++)
		if (all[i] != FAR && some[i] == FAR) {
			*bytes += t->size[i];
			++*count;
		}
}

static xc_addr any_address(struct rng *rng, const struct told *t)
{
	size_t node = rng_below(rng, t->nodes);
	switch (rng_below(rng, 8)) {
	case 0:
		return t->addr[node] + rng_below(rng, 700);
	case 1:
		return rng_next(rng);
	case 2:
		return t->addr[node] + rng_below(rng, t->size[node] < 4096 ? t->size[node] + 1 : 4096);
	default:
		return t->addr[node];
	}
}

static void tell_nodes(struct rng *rng, struct told *t)
{
	static const xc_addr places[] = {0x1000, 0x1100, 0x555500000000, 0x7fff00000000, UINT64_MAX - 70000};
	t->nodes = 1 + rng_below(rng, MOST - 1);
	for (size_t i = 0; i < t->nodes; i++) {
		t->addr[i] = places[rng_below(rng, XC_COUNT(places))] + rng_below(rng, 1U << (4 + rng_below(rng, 13)));
		t->size[i] = rng_below(rng, 10) ? rng_below(rng, 300) : rng_below(rng, 1 << 20);
		t->kind[i] = (unsigned)rng_below(rng, KINDS);
		for (size_t k = 0; k < i; k++)
			t->again[i] |= t->addr[k] == t->addr[i];
		xc_refgraph_reserve(t->graph, 1, 0, 0);
		xc_refgraph_node(t->graph, t->addr[i], t->size[i], t->kind[i]);
	}
}

static struct told tell(struct rng *rng)
{
	struct told t = {.graph = xc_refgraph_new(1 + (unsigned)rng_below(rng, 2))};
	for (size_t i = 0; i < KINDS; i++)
		(void)xc_refgraph_name(&t.graph->kinds, (const char *const[]){"table", "string", "root 1"}[i]);
	for (size_t i = 0; i < NAMES; i++)
		(void)xc_refgraph_name(&t.graph->root_names, (const char *const[]){"root 0", "root 1", "root 2"}[i]);
	tell_nodes(rng, &t);
	t.edges = rng_below(rng, rng_below(rng, 2) ? EDGES : t.nodes + 1);
	t.edges = t.edges < EDGES ? t.edges : EDGES;
	for (size_t e = 0; e < t.edges; e++) {
		t.from[e] = e && rng_below(rng, 3) == 0 ? t.from[e - 1] : any_address(rng, &t);
		t.to[e] = any_address(rng, &t);
		xc_refgraph_reserve(t.graph, 0, 1, 1);
		xc_refgraph_row(t.graph, t.from[e], false);
		xc_refgraph_to(t.graph, t.to[e]);
	}
	t.roots = rng_below(rng, ROOTS);
	for (size_t i = 0; i < t.roots; i++) {
		t.root[i] = any_address(rng, &t);
		t.name[i] = (unsigned)rng_below(rng, NAMES);
		xc_refgraph_root(t.graph, t.root[i], t.name[i]);
	}
	xc_refgraph_finish(t.graph);
	xc_refgraph_find_paths(t.graph);
	xc_refgraph_retain(t.graph);
	return t;
}

/* ---- nodes and references ---- */

static void check_counts(struct rng *rng, const struct told *t)
{
	size_t edges = 0, strays = 0, repeated = 0;
	for (size_t e = 0; e < t->edges; e++)
		edges += node_of(t, t->from[e]) != MOST && node_of(t, t->to[e]) != MOST;
	for (size_t i = 0; i < t->roots; i++)
		strays += node_of(t, t->root[i]) == MOST;
	for (size_t i = 0; i < t->nodes; i++)
		repeated += t->again[i];
	PROPERTY_CHECK(rng, t->graph->edge_count == edges);
	PROPERTY_CHECK(rng, t->graph->strays == strays + t->edges - edges);
	PROPERTY_CHECK(rng, t->graph->repeated == repeated);
	PROPERTY_CHECK(rng, t->graph->count == t->nodes - repeated);
}

static void check_lookups(struct rng *rng, const struct told *t)
{
	for (unsigned i = 0; i < 40; i++) {
		xc_addr addr = any_address(rng, t);
		size_t node = node_of(t, addr);
		uint32_t found = xc_refgraph_find(t->graph, addr);
		PROPERTY_CHECK(rng, (node == MOST) == (found == XC_NO_NODE));
		PROPERTY_CHECK(rng, node == MOST || (t->graph->addr[found] == t->addr[node] &&
						     t->graph->size[found] == t->size[node] &&
						     t->graph->kind[found] == t->kind[node]));
	}
}

/* The first root added that leads to the node. */
static void check_roots(struct rng *rng, const struct told *t)
{
	for (size_t node = 0; node < t->nodes; node++) {
		size_t first = 0;
		while (first < t->roots && node_of(t, t->root[first]) != node)
			first++;
		if (t->again[node])
			continue;
		const struct xc_refgraph_root *root =
			xc_refgraph_root_of(t->graph, xc_refgraph_find(t->graph, t->addr[node]));
		PROPERTY_CHECK(rng, (root != NULL) == (first < t->roots));
		PROPERTY_CHECK(rng, !root || (root->addr == t->root[first] && root->name == t->name[first]));
	}
}

/* Each step of a path is a reference, its first node a root of that name, and its length the distance. */
static void check_path(struct rng *rng, const struct told *t, size_t node, unsigned distance)
{
	const struct xc_refgraph *g = t->graph;
	uint32_t at = xc_refgraph_find(g, t->addr[node]);
	unsigned length = 1;
	PROPERTY_CHECK(rng, (g->from[at] == XC_NO_NODE) == (distance == FAR));
	if (distance == FAR)
		return;
	for (; g->from[at] < g->count; at = g->from[at], length++) {
		bool is_edge = false;
		for (size_t e = 0; e < t->edges && !is_edge; e++)
			is_edge = xc_refgraph_find(g, t->from[e]) == g->from[at] && xc_refgraph_find(g, t->to[e]) == at;
		PROPERTY_CHECK(rng, is_edge);
	}
	bool is_root = false;
	for (size_t i = 0; i < t->roots; i++)
		is_root |= t->name[i] == (g->from[at] & ~XC_REFGRAPH_ROOT) && xc_refgraph_find(g, t->root[i]) == at;
	PROPERTY_CHECK(rng, is_root);
	PROPERTY_CHECK(rng, length == distance);
}

PROPERTY(nodes_references_and_paths_are_as_told, 200, 1000)
{
	struct told t = tell(rng);
	unsigned distance[MOST];
	check_counts(rng, &t);
	check_lookups(rng, &t);
	check_roots(rng, &t);
	distances(&t, MOST, NAMES, distance);
	for (size_t i = 0; i < t.nodes; i++)
		if (!t.again[i])
			check_path(rng, &t, i, distance[i]);
	xc_refgraph_free(t.graph);
}

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

/* ---- millions ---- */

static double now(void)
{
	struct timespec at;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* `edge` returns node i's k-th target, or SIZE_MAX. */
static struct xc_refgraph *large(const char *what, size_t count, size_t (*edge)(size_t i, unsigned k, size_t count))
{
	struct xc_refgraph *g = xc_refgraph_new(0);
	uint32_t kind = xc_refgraph_name(&g->kinds, "node");
	double begin = now();
	for (size_t i = 0; i < count; i++) {
		size_t j = i * 7919 % count, to; /* the order is not that of addresses */
		xc_refgraph_reserve(g, 1, 1, 8);
		xc_refgraph_node(g, 0x10000000 + j * 48, 40, kind);
		xc_refgraph_row(g, 0x10000000 + j * 48, false);
		for (unsigned k = 0; (to = edge(j, k, count)) != SIZE_MAX; k++)
			xc_refgraph_to(g, 0x10000000 + to * 48);
	}
	xc_refgraph_root(g, 0x10000000, xc_refgraph_name(&g->root_names, "root"));
	double told = now();
	xc_refgraph_finish(g);
	double finished = now();
	xc_refgraph_find_paths(g);
	double ways = now();
	xc_refgraph_retain(g);
	print_message(
		"# %s of %zu, %zu references: CPU: told %.2f s, finished %.2f, paths %.2f, retained %.2f; %.0f MB\n",
		what, g->count, g->edge_count, told - begin, finished - told, ways - finished, now() - ways,
		(double)xc_refgraph_bytes(g) / 1e6);
	assert_int_equal(g->count, count);
	assert_int_equal(g->strays, 0);
	return g;
}

static size_t list_edge(size_t i, unsigned k, size_t count)
{
	return k == 0 && i + 1 < count ? i + 1 : k <= 1 && i > 0 ? i - 1 : SIZE_MAX;
}

static size_t tree_edge(size_t i, unsigned k, size_t count)
{
	return k < 2 && 2 * i + 1 + k < count ? 2 * i + 1 + k : SIZE_MAX;
}

static size_t random_edge(size_t i, unsigned k, size_t count)
{
	uint64_t x = (i * 2 + k + 1) * UINT64_C(0x9e3779b97f4a7c15);
	return k < 2 ? (x ^ x >> 29) % count : SIZE_MAX;
}

static size_t how_many(void)
{
	return UNDER_ASAN ? 200000 : (size_t)property_env("XC_NODES", 1000000);
}

static void each_node_of_a_long_list_retains_the_rest(void **state)
{
	(void)state;
	size_t count = how_many();
	struct xc_refgraph *g = large("list", count, list_edge);
	for (size_t i = 0; i < count; i++)
		assert_true(g->kept[i] == count - i && g->kept_bytes[i] == 40 * (count - i));
	assert_int_equal(g->reached, count);
	xc_refgraph_free(g);
}

static void each_node_of_a_tree_retains_its_subtree(void **state)
{
	(void)state;
	size_t count = how_many();
	struct xc_refgraph *g = large("tree", count, tree_edge);
	uint32_t *below = xc_alloc(count * sizeof *below);
	for (size_t i = count; i-- > 0;) {
		below[i]++;
		assert_int_equal(g->kept[i], below[i]);
		if (i)
			below[(i - 1) / 2] += below[i];
	}
	free(below);
	xc_refgraph_free(g);
}

static void a_large_random_graph_adds_up(void **state)
{
	(void)state;
	struct xc_refgraph *g = large("random graph", how_many(), random_edge);
	struct xc_refgraph_kind kind = {0};
	xc_refgraph_by_kind(g, &kind);
	assert_int_equal(g->reached, g->kept[0]);
	assert_int_equal(kind.retained, g->kept_bytes[0]);
	assert_int_equal(kind.unreached, g->count - g->reached);
	xc_refgraph_free(g);
}

/* ---- scans ---- */

enum { BYTES = 3000, GAP = 4096 };
#define MEMORY UINT64_C(0x7f0000000000)

static size_t peek(void *ctx, uint64_t offset, void *buf, size_t len)
{
	memcpy(buf, (const uint8_t *)ctx + offset, len);
	return len;
}

/* Two adjacent pieces of memory, one of them only readable by copying, then nothing. */
static struct xc_space *made_space(const uint8_t *bytes)
{
	static const struct xc_backing backing = {.read = peek};
	struct xc_space *space = xc_space_new();
	const struct xc_segment first = {
		.lo = MEMORY, .hi = MEMORY + BYTES / 2 - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	const struct xc_segment second = {.lo = MEMORY + BYTES / 2,
					  .hi = MEMORY + BYTES - 1,
					  .provenance = XC_FROM_LIVE,
					  .backing = &backing,
					  .ctx = (void *)(uintptr_t)(bytes + BYTES / 2)};
	xc_space_add(space, &first);
	xc_space_add(space, &second);
	xc_space_seal(space);
	return space;
}

static struct xc_refscan any_scan(struct rng *rng)
{
	static const unsigned widths[] = {0, 1, 2, 4, 8};
	struct xc_refscan scan = {.stride = 1 + rng_below(rng, 40),
				  .at_count = 1 + (unsigned)rng_below(rng, 3),
				  .width = rng_below(rng, 2) ? 4 : 8,
				  .mask = rng_below(rng, 2) ? UINT64_MAX : rng_next(rng),
				  .shift = (unsigned)rng_below(rng, 5),
				  .base = rng_below(rng, 2) ? 0 : rng_next(rng),
				  .swap = rng_below(rng, 2),
				  .tagged = rng_below(rng, 2),
				  .most = rng_below(rng, 5) ? 1000000 : 10};
	for (unsigned i = 0; i < scan.at_count; i++)
		scan.at[i] = (int32_t)rng_below(rng, 50) - 10;
	scan.tag = (struct xc_reftag){.at = (int32_t)rng_below(rng, 20) - 10,
				      .width = widths[rng_below(rng, XC_COUNT(widths))],
				      .shift = (unsigned)rng_below(rng, 64),
				      .mask = rng_below(rng, 2) ? UINT64_MAX : 3,
				      .lo = -(int64_t)rng_below(rng, 1000),
				      .hi = (int64_t)rng_below(rng, 1000)};
	return scan;
}

/* A number of the target, byte by byte. False if one of them is missing. */
static bool number_at(const uint8_t *bytes, int64_t at, unsigned width, bool swap, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < width; i++) {
		int64_t byte = at + (swap ? width - 1 - i : i);
		if (byte < 0 || byte >= BYTES)
			return false;
		*out |= (uint64_t)bytes[byte] << 8 * i;
	}
	return true;
}

static bool tag_fits(const struct xc_reftag *tag, uint64_t bits, unsigned width)
{
	int64_t value = width == 8   ? (int64_t)bits
			: width == 4 ? (int32_t)bits
			: width == 2 ? (int16_t)bits
				     : (int8_t)bits;
	for (unsigned i = 0; i < tag->shift; i++)
		value = value < 0 ? -((-(value + 1)) / 2) - 1 : value / 2; /* towards minus infinity */
	value = (int64_t)((uint64_t)value & tag->mask);
	return value >= tag->lo && value <= tag->hi;
}

/* One element by definition: its references, added to `wanted`. False if a byte of it is missing. */
static bool take(const struct xc_refscan *scan, const uint8_t *bytes, int64_t at, uint64_t *wanted, size_t *count)
{
	uint64_t word[3], tag[3];
	for (unsigned w = 0; w < scan->at_count; w++) {
		if (!number_at(bytes, at + scan->at[w], scan->width, scan->swap, &word[w]))
			return false;
		tag[w] = word[w];
		if (scan->tagged && scan->tag.width &&
		    !number_at(bytes, at + scan->at[w] + scan->tag.at, scan->tag.width, scan->swap, &tag[w]))
			return false;
	}
	for (unsigned w = 0; w < scan->at_count; w++)
		if ((!scan->tagged || tag_fits(&scan->tag, tag[w], scan->tag.width ? scan->tag.width : scan->width)) &&
		    (word[w] & scan->mask))
			wanted[(*count)++] = scan->base + ((word[w] & scan->mask) << scan->shift);
	return true;
}

static void run_scan(struct rng *rng, struct xc_refgraph *g, const struct xc_refscan *scan, struct xc_space *space,
		     const struct xc_refscan_row *rows, size_t count)
{
	struct xc_window window;
	struct xc_refscan_place place = {0};
	xc_window_init(&window, space);
	while (place.row < count) {
		uint64_t words = scan->at_count + rng_below(rng, 100);
		size_t before = g->target_count;
		xc_refgraph_reserve(g, 0, count + 1, words);
		xc_refscan_run(g, scan, &window, rows, count, &place, words);
		PROPERTY_CHECK(rng, g->target_count - before <= words);
	}
	xc_window_fini(&window);
}

PROPERTY(a_scan_takes_what_each_element_says, 400, 2000)
{
	enum { ROWS = 6 };
	static uint8_t bytes[BYTES];
	static uint64_t wanted[ROWS * 3 * BYTES];
	struct xc_refscan scan = any_scan(rng);
	struct xc_refscan_row rows[ROWS];
	size_t count = 0;
	uint64_t missing = 0;
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = rng_below(rng, 3) ? 0 : (uint8_t)rng_next(rng);
	for (size_t r = 0; r < ROWS; r++) {
		uint64_t i = 0;
		rows[r] = (struct xc_refscan_row){.from = r + 1,
						  .start = MEMORY + rng_below(rng, BYTES + 100) - 50,
						  .count = rng_below(rng, 6) ? rng_below(rng, 80) : rng_next(rng) >> 8};
		while (rows[r].count <= scan.most && i < rows[r].count &&
		       take(&scan, bytes, (int64_t)(rows[r].start - MEMORY + i * scan.stride), wanted, &count))
			i++;
		missing += rows[r].count - i;
	}
	struct xc_space *space = made_space(bytes);
	struct xc_refgraph *g = xc_refgraph_new(1);
	PROPERTY_CHECK(rng, xc_refscan_prepare(&scan));
	run_scan(rng, g, &scan, space, rows, ROWS);
	PROPERTY_CHECK(rng, g->target_count == count);
	PROPERTY_CHECK(rng, g->missing == missing);
	PROPERTY_CHECK(rng, memcmp(g->target, wanted, count * sizeof *wanted) == 0 || !count);
	xc_refgraph_free(g);
	xc_space_free(space);
}

static void only_beginnings_count_where_asked(void **state)
{
	(void)state;
	struct xc_refgraph *g = xc_refgraph_new(1);
	xc_refgraph_reserve(g, 1, 2, 4);
	xc_refgraph_node(g, 0x1000, 64, xc_refgraph_name(&g->kinds, "a"));
	xc_refgraph_row(g, 0x1000, true);
	xc_refgraph_to(g, 0x1000);
	xc_refgraph_to(g, 0x1008);
	xc_refgraph_row(g, 0x1000, false);
	xc_refgraph_to(g, 0x1008);
	xc_refgraph_to(g, 0x1040);
	xc_refgraph_finish(g);
	assert_int_equal(g->edge_count, 2);
	assert_int_equal(g->strays, 2);
	xc_refgraph_free(g);
}

static void an_empty_graph_answers(void **state)
{
	(void)state;
	struct xc_refgraph *g = xc_refgraph_new(1);
	xc_refgraph_reserve(g, 0, 1, 1);
	xc_refgraph_row(g, 0x1000, false);
	xc_refgraph_to(g, 0x2000);
	xc_refgraph_root(g, 0x1000, xc_refgraph_name(&g->root_names, "r"));
	xc_refgraph_finish(g);
	xc_refgraph_find_paths(g);
	xc_refgraph_retain(g);
	xc_refgraph_by_kind(g, NULL);
	assert_int_equal(xc_refgraph_find(g, 0x1000), XC_NO_NODE);
	assert_int_equal(xc_refgraph_top(g, true, UINT32_MAX, NULL, 0), 0);
	assert_int_equal(g->strays, 2);
	xc_refgraph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_references_and_paths_are_as_told),
		cmocka_unit_test(retained_is_what_is_lost),
		cmocka_unit_test(each_node_is_in_its_frame),
		cmocka_unit_test(too_many_frames_are_a_limit),
		cmocka_unit_test(a_heap_told_as_a_graph_retains_the_same),
		cmocka_unit_test(a_scan_takes_what_each_element_says),
		cmocka_unit_test(only_beginnings_count_where_asked),
		cmocka_unit_test(an_empty_graph_answers),
		cmocka_unit_test(each_node_of_a_long_list_retains_the_rest),
		cmocka_unit_test(each_node_of_a_tree_retains_its_subtree),
		cmocka_unit_test(a_large_random_graph_adds_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
