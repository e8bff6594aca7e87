/* told_graph: a random graph of a plugin, and its nodes, distances and losses by definition. */
#ifndef XC_TEST_TOLD_GRAPH_H
#define XC_TEST_TOLD_GRAPH_H

#include "heap/objgraph/refgraph.h"
#include "tests/support/property.h"

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

static inline size_t node_of(const struct told *t, xc_addr addr)
{
	size_t best = MOST;
	for (size_t i = 0; i < t->nodes; i++)
		if (!t->again[i] && t->addr[i] <= addr && (best == MOST || t->addr[i] > t->addr[best]))
			best = i;
	return best != MOST && (addr == t->addr[best] || addr - t->addr[best] < t->size[best]) ? best : MOST;
}

/* Steps from a root; FAR if unreached. Without node `away`, or the roots of a name. */
static inline void distances(const struct told *t, size_t away, unsigned name, unsigned *distance)
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

static inline void lost(const struct told *t, const unsigned *all, const unsigned *some, uint64_t *bytes,
			uint64_t *count)
{
	*bytes = *count = 0;
	for (size_t i = 0; i < t->nodes; i++)
		if (all[i] != FAR && some[i] == FAR) {
			*bytes += t->size[i];
			++*count;
		}
}

static inline xc_addr any_address(struct rng *rng, const struct told *t)
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

static inline void tell_nodes(struct rng *rng, struct told *t)
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

static inline struct told tell(struct rng *rng)
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

#endif
