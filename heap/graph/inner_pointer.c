/* Edges have no addresses. All interior edges between two blocks are alike to the search, so it does not matter which
 * one of them stands for the pointer. */
#include "heap/graph/inner_pointer.h"

#include <stdlib.h>

#include "heap/graph/graph_impl.h"

static int source_order(const void *a, const void *b)
{
	const struct xc_inner_pointer *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* ---- the graph ---- */

/* Pointers of one block, from `first` on. `targets` has no bits, before and after. */
static void take_row(struct xc_graph *graph, const struct xc_inner_pointer *first, size_t count, uint64_t *targets)
{
	uint32_t from = first->from;
	for (size_t i = 0; i < count; i++)
		xc_graph_set_bit(targets, first[i].block);
	for (uint32_t e = graph->start[from]; e < graph->start[from + 1]; e++)
		if (xc_graph_bit(targets, graph->to[e] & ~XC_EDGE_INTERIOR))
			graph->to[e] &= ~XC_EDGE_INTERIOR;
	for (size_t i = 0; i < count; i++)
		targets[first[i].block >> 6] = 0;
}

static void take_root(const struct xc_inner_pointer *pointers, size_t count, struct xc_root *root)
{
	size_t lo = XC_LOWER_BOUND(count, i, pointers[i].at < root->at);
	root->is_meant |= lo < count && pointers[lo].at == root->at;
}

/* Those outside of blocks come last: XC_NO_BLOCK is the greatest number. */
void xc_graph_take_inner(struct xc_graph *graph)
{
	const struct xc_inner_pointers *all = graph->heap->inner_pointers;
	size_t at = 0;
	if (!all || !all->count)
		return;
	uint64_t *targets = xc_graph_bits(graph->heap->blocks.count);
	for (size_t end; at < all->count && all->items[at].from != XC_NO_BLOCK; at = end) {
		for (end = at + 1; end < all->count && all->items[end].from == all->items[at].from; end++)
			;
		take_row(graph, &all->items[at], end - at, targets);
	}
	free(targets);
	for (size_t i = 0; i < graph->root_count; i++)
		if (graph->roots[i].interior && graph->roots[i].kind != XC_ROOT_REGISTER)
			take_root(all->items + at, all->count - at, &graph->roots[i]);
}

/* ---- the heap's pointers ---- */

bool xc_inner_pointers_matter(const struct xc_heap *heap, uint32_t block)
{
	const struct xc_graph *graph = heap->graph;
	return !graph || (xc_graph_bit(graph->reached, block) && !xc_graph_bit(graph->surely, block));
}

bool xc_inner_link_matters(const struct xc_heap *heap, uint32_t from)
{
	const struct xc_graph *graph = heap->graph;
	return graph ? graph->stale && xc_graph_bit(graph->stale, from) : xc_graph_leaves_links(heap);
}

bool xc_inner_pointer_first(const struct xc_heap *heap, uint32_t from)
{
	const struct xc_inner_pointers *all = heap->inner_pointers;
	size_t lo = XC_LOWER_BOUND(all ? all->count : 0, i, all->items[i].from < from);
	return all && lo < all->count && all->items[lo].from == from &&
	       all->items[lo].at == xc_block_addr(&heap->blocks, from);
}

bool xc_inner_pointers_matter_at_all(const struct xc_heap *heap)
{
	bool any = !heap->graph || heap->graph->stale;
	for (size_t i = 0; i < heap->blocks.count / 64 + 1 && !any; i++)
		any = heap->graph->reached[i] & ~heap->graph->surely[i];
	return any;
}

void xc_inner_pointers_set(struct xc_heap *heap, struct xc_inner_pointer *pointers, size_t count)
{
	if (count)
		qsort(pointers, count, sizeof *pointers, source_order);
	heap->inner_pointers = xc_alloc(sizeof *heap->inner_pointers);
	*heap->inner_pointers = (struct xc_inner_pointers){.items = pointers, .count = count};
	if (!heap->graph)
		return;
	xc_graph_take_inner(heap->graph);
	xc_graph_search_again(heap->graph);
}

void xc_inner_pointers_free(struct xc_inner_pointers *pointers)
{
	if (pointers)
		free(pointers->items);
	free(pointers);
}
