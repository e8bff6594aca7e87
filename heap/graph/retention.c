/* The roots are sorted by holder, the dominators are found (dominator.h), and the sizes are summed along their
 * tree. */
#include "heap/graph/retention.h"

#include <stdlib.h>

#include "heap/graph/dominator.h"

/* The roots of each holder together. */
struct grouped {
	uint32_t *begin, *blocks;
};

/* ---- holders ---- */

static uint8_t holder_kind(const struct xc_root *root)
{
	return root->kind == XC_ROOT_TLS || root->kind == XC_ROOT_REGISTER ? XC_ROOT_STACK : root->kind;
}

static int holder_key_order(const void *a, const void *b)
{
	const struct xc_holder *x = a, *y = b;
	return x->kind != y->kind ? x->kind - y->kind : x->owner < y->owner ? -1 : x->owner > y->owner;
}

static uint32_t find_holder(const struct xc_retention *r, const struct xc_root *root)
{
	struct xc_holder key = {.kind = holder_kind(root), .owner = root->owner};
	return (uint32_t)XC_LOWER_BOUND(r->holder_count, i, holder_key_order(&r->holders[i], &key) < 0);
}

/* Neighbouring roots mostly have the same holder, so the list before sorting is short. */
static void list_holders(struct xc_retention *r, const struct xc_graph *graph)
{
	size_t capacity = 0, kept = 0;
	for (size_t i = 0; i < graph->root_count; i++) {
		struct xc_holder holder = {.kind = holder_kind(&graph->roots[i]), .owner = graph->roots[i].owner};
		if (r->holder_count && holder_key_order(&r->holders[r->holder_count - 1], &holder) == 0)
			continue;
		r->holders = xc_grow(r->holders, r->holder_count, &capacity, sizeof *r->holders);
		r->holders[r->holder_count++] = holder;
	}
	if (r->holder_count)
		qsort(r->holders, r->holder_count, sizeof *r->holders, holder_key_order);
	for (size_t i = 0; i < r->holder_count; i++)
		if (i == 0 || holder_key_order(&r->holders[i], &r->holders[kept - 1]) != 0)
			r->holders[kept++] = r->holders[i];
	r->holder_count = kept;
}

static void group_roots(struct xc_retention *r, const struct xc_graph *graph, struct grouped *g)
{
	uint32_t *holder_of = xc_alloc((graph->root_count + 1) * sizeof *holder_of);
	uint32_t *next = xc_alloc((r->holder_count + 1) * sizeof *next);
	g->begin = xc_alloc((r->holder_count + 1) * sizeof *g->begin);
	g->blocks = xc_alloc((graph->root_count + 1) * sizeof *g->blocks);
	for (size_t i = 0; i < graph->root_count; i++) {
		holder_of[i] = find_holder(r, &graph->roots[i]);
		r->holders[holder_of[i]].roots++;
	}
	for (size_t h = 0; h < r->holder_count; h++)
		next[h + 1] = g->begin[h + 1] = g->begin[h] + (uint32_t)r->holders[h].roots;
	for (size_t i = 0; i < graph->root_count; i++)
		g->blocks[next[holder_of[i]]++] = graph->roots[i].block;
	free(holder_of);
	free(next);
}

/* ---- sizes ---- */

static void add_up(struct xc_retention *r, const struct xc_dominators *d)
{
	const struct xc_dominator_sums sums = {.bytes = r->bytes,
					       .count = r->count,
					       .above = r->dominator,
					       .mark = XC_NO_BLOCK,
					       .holders = xc_alloc((d->holders + 1) * sizeof *sums.holders)};
	for (uint32_t number = 1; number < d->count; number++) {
		uint32_t block = d->vertex[number];
		if (block >= d->links.nodes)
			continue;
		r->bytes[block] = xc_block_size(&r->heap->blocks, block);
		r->count[block] = 1;
	}
	xc_dominators_add_up(d, &sums);
	for (size_t h = 0; h < r->holder_count; h++) {
		r->holders[h].bytes = sums.holders[h].bytes;
		r->holders[h].count = sums.holders[h].count;
	}
	r->shared_bytes = sums.holders[r->holder_count].bytes;
	r->shared_count = sums.holders[r->holder_count].count;
	free(sums.holders);
}

static int holder_order(const void *a, const void *b)
{
	const struct xc_holder *x = a, *y = b;
	return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : holder_key_order(a, b);
}

static void add_results(struct xc_retention *r, const struct xc_dominators *d)
{
	size_t blocks = d->links.nodes;
	r->memory[0] = xc_reserve_new(blocks, sizeof *r->dominator);
	r->memory[1] = xc_reserve_new(blocks, sizeof *r->bytes);
	r->memory[2] = xc_reserve_new(blocks, sizeof *r->count);
	r->dominator = r->memory[0].items;
	r->bytes = r->memory[1].items;
	r->count = r->memory[2].items;
	for (size_t i = 0; i < blocks; i++)
		r->dominator[i] = XC_NO_BLOCK;
	add_up(r, d);
	if (r->holder_count)
		qsort(r->holders, r->holder_count, sizeof *r->holders, holder_order);
}

/* ---- all steps ---- */

static struct xc_retention *retention_new(struct xc_heap *heap, struct xc_graph *graph)
{
	struct xc_retention *r = xc_alloc(sizeof *r);
	struct grouped grouped;
	r->heap = heap;
	xc_graph_back(graph);
	list_holders(r, graph);
	group_roots(r, graph, &grouped);
	struct xc_dominators d = {.links = {(uint32_t)heap->blocks.count, graph->start, graph->to},
				  .back = {(uint32_t)heap->blocks.count, graph->back_start, graph->back},
				  .holders = (uint32_t)r->holder_count,
				  .begin = grouped.begin,
				  .roots = grouped.blocks};
	xc_dominators_find(&d);
	add_results(r, &d);
	xc_dominators_fini(&d);
	free(grouped.begin);
	free(grouped.blocks);
	return r;
}

struct xc_error *xc_retention_of(struct xc_heap *heap, struct xc_retention **retention_out)
{
	struct xc_graph *graph;
	struct xc_error *err = xc_graph_of(heap, &graph);
	if (err)
		return err;
	if (!heap->retention)
		heap->retention = retention_new(heap, graph);
	*retention_out = heap->retention;
	return NULL;
}

void xc_retention_free(struct xc_retention *retention)
{
	if (!retention)
		return;
	for (size_t i = 0; i < XC_COUNT(retention->memory); i++)
		xc_reserve_free(&retention->memory[i]);
	free(retention->holders);
	free(retention);
}
