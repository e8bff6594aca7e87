/* The reverse direction, from a block to the roots: rows, and the shortest paths. */
#include <stdlib.h>

#include "heap/graph/graph.h"
#include "heap/graph/adjacency.h"

void xc_graph_back(struct xc_graph *graph)
{
	const struct xc_adjacency links = {(uint32_t)graph->heap->blocks.count, graph->start, graph->to};
	if (graph->back_start)
		return;
	graph->memory[2] = xc_reserve_new((size_t)links.nodes + 1, sizeof *graph->back_start);
	graph->memory[3] = xc_reserve_new(graph->edge_count + 1, sizeof *graph->back);
	graph->back_start = graph->memory[2].items;
	graph->back = graph->memory[3].items;
	xc_adjacency_transpose(&links, graph->heap->jobs, graph->back_start, graph->back);
}

/* ---- paths ---- */

/* Roots are in the order of preference: the first one of a block is its best. */
static void index_roots(struct xc_graph *graph)
{
	if (graph->first_root)
		return;
	graph->memory[4] = xc_reserve_new(graph->heap->blocks.count + 1, sizeof *graph->first_root);
	graph->first_root = graph->memory[4].items;
	for (size_t i = graph->root_count < UINT32_MAX ? graph->root_count : UINT32_MAX; i-- > 0;)
		graph->first_root[graph->roots[i].block] = (uint32_t)i + 1;
}

/* A search from a block back to the roots. Each entry of the queue has the place of its predecessor. */
struct way {
	struct xc_graph *graph;
	struct xc_reserve memory[2];
	uint32_t *queue, *from;
	size_t count;
	uint64_t *seen;
};

static void come_to(struct way *w, uint32_t block, size_t from)
{
	uint64_t *word = &w->seen[block >> 6], bit = UINT64_C(1) << (block & 63);
	if (*word & bit)
		return;
	*word |= bit;
	w->queue[w->count] = block;
	w->from[w->count++] = (uint32_t)from;
}

/* The place in the queue of the nearest block that a root points to, and of those the one with the best root;
 * SIZE_MAX if there is none. */
static size_t nearest(struct way *w, uint32_t block)
{
	const struct xc_graph *graph = w->graph;
	size_t best = SIZE_MAX, level_end = 1;
	come_to(w, block, 0);
	for (size_t at = 0; at < w->count; at++) {
		if (at == level_end) {
			if (best != SIZE_MAX)
				break;
			level_end = w->count;
		}
		uint32_t here = w->queue[at], root = graph->first_root[here];
		if (root && (best == SIZE_MAX || root < graph->first_root[w->queue[best]]))
			best = at;
		for (uint32_t e = graph->back_start[here]; e < graph->back_start[here + 1]; e++)
			come_to(w, graph->back[e], at);
	}
	return best;
}

size_t xc_graph_path(struct xc_graph *graph, uint32_t block, uint32_t **path_out, const struct xc_root **root_out)
{
	size_t blocks = graph->heap->blocks.count, length = 0, at;
	struct way w = {.graph = graph};
	xc_graph_back(graph);
	index_roots(graph);
	w.memory[0] = xc_reserve_new(blocks, sizeof *w.queue);
	w.memory[1] = xc_reserve_new(blocks, sizeof *w.from);
	w.queue = w.memory[0].items;
	w.from = w.memory[1].items;
	w.seen = xc_alloc((blocks / 64 + 1) * sizeof *w.seen);
	at = nearest(&w, block);
	if (at != SIZE_MAX) {
		size_t capacity = 0;
		*path_out = NULL;
		*root_out = &graph->roots[graph->first_root[w.queue[at]] - 1];
		for (;; at = w.from[at]) {
			*path_out = xc_grow(*path_out, length, &capacity, sizeof **path_out);
			(*path_out)[length++] = w.queue[at];
			if (at == 0)
				break;
		}
	}
	free(w.seen);
	xc_reserve_free(&w.memory[0]);
	xc_reserve_free(&w.memory[1]);
	return length;
}
