/* Claims of plugins become part of the graph: the pieces of a block keep each other alive through one of them,
 * and edges and roots that are not words in memory are inserted. */
#include <stdlib.h>
#include <string.h>

#include "heap/graph/claim.h"
#include "heap/graph/graph_impl.h"

struct edges {
	struct xc_graph_edge *items;
	size_t count, capacity;
};

static void add(struct edges *edges, uint32_t from, uint32_t to)
{
	if (from == to)
		return;
	edges->items = xc_grow(edges->items, edges->count, &edges->capacity, sizeof *edges->items);
	edges->items[edges->count++] = (struct xc_graph_edge){from, to};
}

static int by_source(const void *a, const void *b)
{
	const struct xc_graph_edge *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Is it held by the other pieces of its block? */
static bool is_held(const struct xc_heap *heap, uint32_t piece)
{
	const struct xc_heap_claim *claim = xc_claim_of(heap, piece);
	return !claim || (!claim->is_alone && !claim->is_free);
}

/* Edges between the first piece that others hold and each other one, both ways; to those that stand alone none. */
static void hold_block(struct edges *edges, const struct xc_heap *heap, uint32_t first, uint32_t last)
{
	uint32_t hub = first;
	while (hub <= last && !is_held(heap, hub))
		hub++;
	for (uint32_t piece = first; piece <= last && hub <= last; piece++) {
		if (is_held(heap, piece))
			add(edges, hub, piece);
		if (xc_block_state(&heap->blocks, piece) == XC_BLOCK_LIVE)
			add(edges, piece, hub);
	}
}

static void hold_together(struct edges *edges, const struct xc_heap *heap)
{
	const struct xc_claims *claims = heap->claims;
	uint32_t first = XC_NO_BLOCK, last = XC_NO_BLOCK;
	for (size_t i = 0; i < claims->piece_count; i++) {
		uint32_t piece = xc_blocks_find(&heap->blocks, claims->pieces[i]);
		if (piece == XC_NO_BLOCK || piece == 0)
			continue;
		if (first != XC_NO_BLOCK && piece != last + 1) {
			hold_block(edges, heap, first, last);
			first = XC_NO_BLOCK;
		}
		first = first == XC_NO_BLOCK ? piece - 1 : first; /* first pieces are not listed */
		last = piece;
	}
	if (first != XC_NO_BLOCK)
		hold_block(edges, heap, first, last);
}

static void add_claimed(struct edges *edges, const struct xc_heap *heap)
{
	const struct xc_claims *claims = heap->claims;
	for (size_t i = 0; i < claims->edge_count; i++) {
		uint32_t from = xc_blocks_find(&heap->blocks, claims->edges[i].from);
		uint32_t to = xc_blocks_find(&heap->blocks, claims->edges[i].to);
		if (from != XC_NO_BLOCK && to != XC_NO_BLOCK && xc_block_state(&heap->blocks, from) == XC_BLOCK_LIVE &&
		    xc_block_state(&heap->blocks, to) == XC_BLOCK_LIVE)
			add(edges, from, to);
	}
}

/* Makes rows with room for the new edges after those of each block. */
struct xc_error *xc_graph_merge(struct xc_graph *graph, struct xc_graph_edge *edges, size_t count)
{
	if (graph->edge_count + count >= UINT32_MAX - 1)
		return xc_error_new(XC_ERR_LIMIT, "claims and types add more pointers than xcore can keep");
	if (count == 0)
		return NULL;
	qsort(edges, count, sizeof *edges, by_source);
	size_t blocks = graph->heap->blocks.count, next = 0, at = 0;
	struct xc_reserve memory = xc_reserve_new(graph->edge_count + count + 1, sizeof *graph->to);
	uint32_t *to = memory.items;
	for (size_t block = 0; block < blocks; block++) {
		uint32_t begin = graph->start[block], end = graph->start[block + 1];
		graph->start[block] = (uint32_t)at;
		memcpy(to + at, graph->to + begin, (end - begin) * sizeof *to);
		at += end - begin;
		for (; next < count && edges[next].from == block; next++)
			to[at++] = edges[next].to;
	}
	graph->start[blocks] = (uint32_t)at;
	graph->edge_count = at;
	xc_reserve_free(&graph->memory[1]);
	graph->memory[1] = memory;
	graph->to = to;
	return NULL;
}

struct xc_error *xc_graph_claim_edges(struct xc_graph *graph)
{
	const struct xc_heap *heap = graph->heap;
	struct edges edges = {.items = NULL};
	if (!heap->claims)
		return NULL;
	hold_together(&edges, heap);
	add_claimed(&edges, heap);
	struct xc_error *err = xc_graph_merge(graph, edges.items, edges.count);
	free(edges.items);
	return err;
}

static int root_order(const void *a, const void *b)
{
	const struct xc_root *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void xc_graph_sort_roots(struct xc_graph *graph)
{
	if (graph->root_count)
		qsort(graph->roots, graph->root_count, sizeof *graph->roots, root_order);
}

void xc_graph_claim_roots(struct xc_graph *graph)
{
	const struct xc_heap *heap = graph->heap;
	const struct xc_claims *claims = heap->claims;
	if (!claims || !claims->root_count)
		return;
	graph->roots = xc_realloc(graph->roots, (graph->root_count + claims->root_count) * sizeof *graph->roots);
	for (size_t i = 0; i < claims->root_count; i++) {
		uint32_t block = xc_blocks_find(&heap->blocks, claims->roots[i].addr);
		if (block == XC_NO_BLOCK || xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE)
			continue;
		graph->roots[graph->root_count++] = (struct xc_root){
			.at = claims->roots[i].addr, .block = block, .owner = UINT32_MAX, .kind = XC_ROOT_PLUGIN};
	}
	xc_graph_sort_roots(graph);
}
