/* layer: heap tier: check
 *
 * A plugin's graph against definitions: the node of an address by linear search, distances by iteration until nothing
 * changes. */
#include "heap/objgraph/refgraph.h"
#include "tests/support/property.h"
#include "tests/unit/heap/objgraph/told_graph.h"

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
		cmocka_unit_test(only_beginnings_count_where_asked),
		cmocka_unit_test(an_empty_graph_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
