/* Queries: one breadth-first search from all roots gives every shortest path; one dominator search (dominator.h)
 * gives everything retained. */
#include <stdlib.h>

#include "heap/graph/dominator.h"
#include "heap/objgraph/refgraph.h"

enum { AHEAD = 24 };

static uint32_t *reserve(struct xc_reserve *memory, size_t count)
{
	*memory = xc_reserve_new(count, sizeof(uint32_t));
	return memory->items;
}

/* ---- roots ---- */

static int by_node(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static void order_roots(struct xc_refgraph *g)
{
	g->rooted_memory = xc_reserve_new(g->root_count + 1, sizeof *g->rooted);
	g->rooted = g->rooted_memory.items;
	for (size_t i = 0; i < g->root_count; i++)
		g->rooted[i] = (uint64_t)g->roots[i].node << 32 | i;
	qsort(g->rooted, g->root_count, sizeof *g->rooted, by_node);
}

uint64_t xc_refgraph_root_of_cost(const struct xc_refgraph *g)
{
	return g->rooted ? 0 : (g->root_count + 1) * sizeof *g->rooted * 2; /* qsort has a copy */
}

const struct xc_refgraph_root *xc_refgraph_root_of(struct xc_refgraph *g, uint32_t node)
{
	if (!g->rooted)
		order_roots(g);
	size_t lo = XC_LOWER_BOUND(g->root_count, i, g->rooted[i] >> 32 < node);
	return lo < g->root_count && g->rooted[lo] >> 32 == node ? &g->roots[(uint32_t)g->rooted[lo]] : NULL;
}

/* ---- paths ---- */

static void come_to(struct xc_refgraph *g, uint32_t node, uint32_t from)
{
	if (g->from[node] != XC_NO_NODE)
		return;
	g->from[node] = from;
	g->order[g->reached++] = node;
}

uint64_t xc_refgraph_find_paths_cost(const struct xc_refgraph *g)
{
	return g->from ? 0 : (g->count + 1) * UINT64_C(8);
}

void xc_refgraph_find_paths(struct xc_refgraph *g)
{
	if (g->from)
		return;
	g->from = reserve(&g->way_memory[0], g->count + 1);
	g->order = reserve(&g->way_memory[1], g->count + 1);
	for (size_t i = 0; i < g->count; i++)
		g->from[i] = XC_NO_NODE;
	for (size_t i = 0; i < g->root_count; i++)
		come_to(g, g->roots[i].node, g->roots[i].name | XC_REFGRAPH_ROOT);
	for (size_t at = 0; at < g->reached; at++) {
		uint32_t node = g->order[at];
		if (at + AHEAD < g->reached)
			__builtin_prefetch(&g->to[g->start[g->order[at + AHEAD]]]);
		for (uint32_t e = g->start[node]; e < g->start[node + 1]; e++)
			come_to(g, g->to[e], node);
	}
}

void xc_refgraph_nearest(const struct xc_refgraph *g, uint64_t *bytes, uint64_t *counts)
{
	struct xc_reserve memory;
	uint32_t *nearest = reserve(&memory, g->count + 1);
	for (size_t at = 0; at < g->reached; at++) {
		uint32_t node = g->order[at], from = g->from[node];
		nearest[node] = from & XC_REFGRAPH_ROOT ? from & ~XC_REFGRAPH_ROOT : nearest[from];
		bytes[nearest[node]] += g->size[node];
		counts[nearest[node]]++;
	}
	xc_reserve_free(&memory);
}

/* ---- retention ---- */

/* The roots of each name together. */
struct grouped {
	uint32_t *begin, *nodes;
};

static struct grouped group_roots(struct xc_refgraph *g)
{
	size_t names = g->root_names.count;
	struct grouped grouped = {xc_alloc((names + 2) * sizeof(uint32_t)),
				  xc_alloc((g->root_count + 1) * sizeof(uint32_t))};
	for (size_t i = 0; i < g->root_count; i++)
		grouped.begin[g->roots[i].name + 2]++;
	for (size_t h = 0; h < names; h++) {
		g->holders[h].roots = grouped.begin[h + 2];
		grouped.begin[h + 2] += grouped.begin[h + 1];
	}
	for (size_t i = 0; i < g->root_count; i++)
		grouped.nodes[grouped.begin[g->roots[i].name + 1]++] = g->roots[i].node;
	return grouped;
}

static void add_up(struct xc_refgraph *g, const struct xc_dominators *d)
{
	const struct xc_dominator_sums sums = {.bytes = g->kept_bytes,
					       .count = g->kept,
					       .above = g->above,
					       .mark = XC_REFGRAPH_ROOT,
					       .holders = xc_alloc((d->holders + 1) * sizeof *sums.holders)};
	for (uint32_t number = 1; number < d->count; number++) {
		uint32_t node = d->vertex[number];
		if (node >= g->count)
			continue;
		g->kept_bytes[node] = g->size[node];
		g->kept[node] = 1;
	}
	xc_dominators_add_up(d, &sums);
	for (size_t h = 0; h <= d->holders; h++) {
		g->holders[h].bytes = sums.holders[h].bytes;
		g->holders[h].count = sums.holders[h].count;
	}
	free(sums.holders);
}

/* The search, or its results together with what is made from them. */
uint64_t xc_refgraph_retain_cost(const struct xc_refgraph *g)
{
	return g->above ? 0
			: (g->count + g->root_names.count + 1) * UINT64_C(24) + g->root_count * UINT64_C(4) +
				  (g->root_names.count + 1) * sizeof *g->holders;
}

void xc_refgraph_retain(struct xc_refgraph *g)
{
	if (g->above)
		return;
	g->holders = xc_alloc((g->root_names.count + 1) * sizeof *g->holders);
	struct grouped grouped = group_roots(g);
	struct xc_dominators d = {.links = {(uint32_t)g->count, g->start, g->to},
				  .back = {(uint32_t)g->count, g->back_start, g->back},
				  .holders = (uint32_t)g->root_names.count,
				  .begin = grouped.begin,
				  .roots = grouped.nodes};
	xc_dominators_find(&d);
	g->above = reserve(&g->kept_memory[0], g->count + 1);
	g->kept = reserve(&g->kept_memory[1], g->count + 1);
	g->kept_memory[2] = xc_reserve_new(g->count + 1, sizeof *g->kept_bytes);
	g->kept_bytes = g->kept_memory[2].items;
	for (size_t i = 0; i < g->count; i++)
		g->above[i] = XC_NO_NODE;
	add_up(g, &d);
	xc_dominators_fini(&d);
	free(grouped.begin);
	free(grouped.nodes);
}

/* ---- by kind ---- */

struct kinds {
	const struct xc_refgraph *graph;
	struct xc_refgraph_kind *items;
};

static bool has_node_above(const struct xc_refgraph *g, uint32_t node)
{
	return g->above[node] < g->count;
}

static void arrive(void *user, uint32_t node)
{
	const struct kinds *k = user;
	struct xc_refgraph_kind *kind = &k->items[k->graph->kind[node]];
	if (kind->above++ == 0)
		kind->retained += k->graph->kept_bytes[node];
}

static void leave(void *user, uint32_t node)
{
	const struct kinds *k = user;
	k->items[k->graph->kind[node]].above--;
}

void xc_refgraph_by_kind(const struct xc_refgraph *g, struct xc_refgraph_kind *kinds)
{
	struct kinds k = {g, kinds};
	struct xc_dominator_tree tree;
	xc_dominator_tree_init(&tree, g->above, (uint32_t)g->count);
	for (uint32_t node = 0; node < g->count; node++) {
		struct xc_refgraph_kind *kind = &kinds[g->kind[node]];
		kind->count++;
		kind->bytes += g->size[node];
		kind->unreached += !g->kept[node];
		kind->unreached_bytes += g->kept[node] ? 0 : g->size[node];
		if (g->kept[node] && !has_node_above(g, node))
			xc_dominator_tree_walk(&tree, node, arrive, leave, &k);
	}
	xc_dominator_tree_fini(&tree);
}

/* ---- the largest ---- */

struct ranking {
	const uint64_t *weight;
	uint32_t *heap; /* smallest first; among equal ones the highest address is removed first */
	size_t count;
};

static bool is_less(const struct ranking *r, uint32_t a, uint32_t b)
{
	return r->weight[a] != r->weight[b] ? r->weight[a] < r->weight[b] : a > b;
}

static void sink(const struct ranking *r, size_t at)
{
	uint32_t node = r->heap[at];
	for (size_t child; (child = 2 * at + 1) < r->count; at = child) {
		if (child + 1 < r->count && is_less(r, r->heap[child + 1], r->heap[child]))
			child++;
		if (!is_less(r, r->heap[child], node))
			break;
		r->heap[at] = r->heap[child];
	}
	r->heap[at] = node;
}

static void rise(const struct ranking *r, size_t at)
{
	uint32_t node = r->heap[at];
	for (; at > 0 && is_less(r, node, r->heap[(at - 1) / 2]); at = (at - 1) / 2)
		r->heap[at] = r->heap[(at - 1) / 2];
	r->heap[at] = node;
}

size_t xc_refgraph_top(const struct xc_refgraph *g, bool by_retained, uint32_t kind, uint32_t *nodes, size_t limit)
{
	struct ranking r = {.weight = by_retained ? g->kept_bytes : g->size, .heap = nodes};
	for (uint32_t node = 0; node < g->count && limit > 0; node++) {
		if ((kind != UINT32_MAX && g->kind[node] != kind) || (by_retained && !g->kept[node]))
			continue;
		if (r.count < limit) {
			nodes[r.count] = node;
			rise(&r, r.count++);
		} else if (is_less(&r, nodes[0], node)) {
			nodes[0] = node;
			sink(&r, 0);
		}
	}
	size_t found = r.count;
	while (r.count > 1) {
		uint32_t least = nodes[0];
		nodes[0] = nodes[--r.count];
		sink(&r, 0);
		nodes[r.count] = least;
	}
	return found;
}
