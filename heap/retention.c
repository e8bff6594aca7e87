/* Dominators by the algorithm of Georgiadis, Tarjan and Werneck that is known as semi-NCA: nodes are numbered in the order of a
 * search in depth; from the last to the first each gets its semidominator, with path compression; from the first to the last
 * the dominator is found on the way up the tree. In practice linear, and it needs no recursion.
 *
 *	number     0          1 … h, among the others      the rest
 *	node       all roots  holders                      blocks
 *
 * What is kept of a node lies in arrays by number, 24 bytes in all:
 *
 *	vertex   which block it is, or behind the blocks, which holder
 *	number   (by block) its number, 0 while it has none
 *	above    its parent in the search; shortened by path compression; reversed while a path is walked
 *	up       the parent again; its dominator in the end
 *	semi     the number of its semidominator; while searching, the next edge to follow
 *	least    the least semi on the path that compression cut short
 *
 * A block with roots of several holders is dominated by all roots alone, whatever else points to it. */
#include "retention.h"

#include <stdlib.h>

enum { AHEAD = 24 };

struct dominators {
	struct xc_graph *graph;
	struct xc_retention *retention;
	uint32_t blocks; /* how many */
	uint32_t nodes;  /* numbered so far, number 0 included */
	struct xc_reserve memory[6];
	uint32_t *vertex, *number, *above, *up, *semi, *least;
	uint32_t *holder_of;     /* by root */
	uint32_t *by_holder;     /* roots, those of a holder together */
	uint32_t *begin;         /* by holder: where in by_holder */
	uint32_t *holder_number; /* by holder */
	uint64_t *several;       /* bit per block: roots of several holders */
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
	size_t lo = 0, hi = r->holder_count;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (holder_key_order(&r->holders[middle], &key) < 0)
			lo = middle + 1;
		else
			hi = middle;
	}
	return (uint32_t)lo;
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

static void sort_roots(struct dominators *d)
{
	const struct xc_graph *graph = d->graph;
	struct xc_retention *r = d->retention;
	d->holder_of = xc_alloc((graph->root_count + 1) * sizeof *d->holder_of);
	d->by_holder = xc_alloc((graph->root_count + 1) * sizeof *d->by_holder);
	d->begin = xc_alloc((r->holder_count + 2) * sizeof *d->begin);
	d->holder_number = xc_alloc((r->holder_count + 1) * sizeof *d->holder_number);
	d->several = xc_alloc((d->blocks / 64 + 1) * sizeof *d->several);
	for (size_t i = 0; i < graph->root_count; i++) {
		d->holder_of[i] = find_holder(r, &graph->roots[i]);
		r->holders[d->holder_of[i]].roots++;
	}
	for (size_t h = 0; h < r->holder_count; h++)
		d->begin[h + 1] = d->begin[h] + (uint32_t)r->holders[h].roots;
	uint32_t *next = xc_alloc((r->holder_count + 1) * sizeof *next);
	for (size_t i = 0; i < graph->root_count; i++) {
		uint32_t h = d->holder_of[i], block = graph->roots[i].block;
		d->by_holder[d->begin[h] + next[h]++] = (uint32_t)i;
		if (d->holder_of[graph->first_root[block] - 1] != h)
			d->several[block >> 6] |= UINT64_C(1) << (block & 63);
	}
	free(next);
}

/* ---- numbers ---- */

static uint32_t give_number(struct dominators *d, uint32_t vertex, uint32_t parent)
{
	uint32_t number = d->nodes++;
	d->vertex[number] = vertex;
	d->above[number] = d->up[number] = parent;
	return number;
}

static uint32_t enter_block(struct dominators *d, uint32_t block, uint32_t parent)
{
	const struct xc_graph *graph = d->graph;
	uint32_t number = give_number(d, block, parent), end = graph->start[block + 1];
	d->number[block] = number;
	d->semi[number] = graph->start[block];
	for (uint32_t e = graph->start[block]; e < end && e < graph->start[block] + AHEAD; e++)
		__builtin_prefetch(&d->number[graph->to[e] & ~XC_EDGE_INTERIOR]);
	return number;
}

/* Number all that is reached from a block, in depth. */
static void number_from(struct dominators *d, uint32_t block, uint32_t holder)
{
	const struct xc_graph *graph = d->graph;
	uint32_t at = enter_block(d, block, holder);
	while (at != holder) {
		uint32_t e = d->semi[at], end = graph->start[d->vertex[at] + 1], target = XC_NO_BLOCK;
		while (e < end && target == XC_NO_BLOCK) {
			uint32_t there = graph->to[e++] & ~XC_EDGE_INTERIOR;
			target = d->number[there] ? XC_NO_BLOCK : there;
		}
		d->semi[at] = e;
		at = target == XC_NO_BLOCK ? d->up[at] : enter_block(d, target, at);
	}
}

static void number_all(struct dominators *d)
{
	const struct xc_graph *graph = d->graph;
	d->nodes = 1;
	for (uint32_t h = 0; h < d->retention->holder_count; h++) {
		d->holder_number[h] = give_number(d, d->blocks + h, 0);
		for (uint32_t i = d->begin[h]; i < d->begin[h + 1]; i++) {
			uint32_t block = graph->roots[d->by_holder[i]].block;
			if (!d->number[block])
				number_from(d, block, d->holder_number[h]);
		}
	}
}

/* ---- semidominators ---- */

/* The least semi on the path from a node up to, and without, the first one that is not linked yet (those below `linked`). The path is
 * reversed on the way up, so that it can be walked down again, and every node on it then leads to its end at once. */
static uint32_t least_above(struct dominators *d, uint32_t at, uint32_t linked)
{
	uint32_t below = 0;
	while (d->above[at] >= linked) {
		uint32_t next = d->above[at];
		d->above[at] = below;
		below = at;
		at = next;
	}
	uint32_t end = d->above[at], least = d->least[at];
	while (below) {
		uint32_t next = d->above[below];
		if (d->least[below] > least)
			d->least[below] = least;
		least = d->least[below];
		d->above[below] = end;
		below = next;
	}
	return least;
}

static uint32_t semidominator(struct dominators *d, uint32_t node)
{
	const struct xc_graph *graph = d->graph;
	uint32_t block = d->vertex[node], semi = d->up[node];
	if (block >= d->blocks || d->several[block >> 6] >> (block & 63) & 1)
		return 0;
	uint32_t root = graph->first_root[block], holder = root ? d->holder_number[d->holder_of[root - 1]] : node;
	if (holder > node)
		return 0; /* found by way of another holder, before this one */
	semi = holder < semi ? holder : semi;
	for (uint32_t e = graph->back_start[block]; e < graph->back_start[block + 1]; e++) {
		uint32_t from = d->number[graph->back[e]];
		if (from == 0)
			continue;
		uint32_t least = from > node ? least_above(d, from, node + 1) : from;
		semi = least < semi ? least : semi;
	}
	return semi;
}

static void ask_ahead(const struct dominators *d, uint32_t node)
{
	const struct xc_graph *graph = d->graph;
	if (node > 2 * AHEAD && d->vertex[node - 2 * AHEAD] < d->blocks)
		__builtin_prefetch(&graph->back_start[d->vertex[node - 2 * AHEAD]]);
	if (node > AHEAD && d->vertex[node - AHEAD] < d->blocks)
		__builtin_prefetch(&graph->back[graph->back_start[d->vertex[node - AHEAD]]]);
}

static void find_dominators(struct dominators *d)
{
	for (uint32_t node = d->nodes - 1; node > 0; node--) {
		ask_ahead(d, node);
		d->semi[node] = d->least[node] = semidominator(d, node);
	}
	for (uint32_t node = 1; node < d->nodes; node++) {
		uint32_t up = d->up[node];
		while (up > d->semi[node])
			up = d->up[up];
		d->up[node] = up;
	}
}

/* ---- sizes ---- */

static void add_up(struct dominators *d)
{
	struct xc_retention *r = d->retention;
	const struct xc_blocks *blocks = &r->heap->blocks;
	for (uint32_t node = 1; node < d->nodes; node++) {
		uint32_t block = d->vertex[node];
		if (block >= d->blocks)
			continue;
		r->bytes[block] = xc_block_size(blocks, block);
		r->count[block] = 1;
	}
	for (uint32_t node = d->nodes - 1; node > 0; node--) {
		uint32_t block = d->vertex[node], above = d->vertex[d->up[node]];
		if (node > AHEAD && d->vertex[node - AHEAD] < d->blocks) {
			__builtin_prefetch(&r->bytes[d->vertex[node - AHEAD]]);
			__builtin_prefetch(&r->count[d->vertex[node - AHEAD]]);
		}
		if (block >= d->blocks)
			continue;
		if (d->up[node] == 0) {
			r->shared_bytes += r->bytes[block];
			r->shared_count += r->count[block];
		} else if (above >= d->blocks) {
			r->holders[above - d->blocks].bytes += r->bytes[block];
			r->holders[above - d->blocks].count += r->count[block];
		} else {
			r->dominator[block] = above;
			r->bytes[above] += r->bytes[block];
			r->count[above] += r->count[block];
		}
	}
}

static int holder_order(const void *a, const void *b)
{
	const struct xc_holder *x = a, *y = b;
	return x->bytes != y->bytes ? (x->bytes > y->bytes ? -1 : 1) : holder_key_order(a, b);
}

static void add_results(struct dominators *d)
{
	struct xc_retention *r = d->retention;
	r->memory[0] = xc_reserve_new(d->blocks, sizeof *r->dominator);
	r->memory[1] = xc_reserve_new(d->blocks, sizeof *r->bytes);
	r->memory[2] = xc_reserve_new(d->blocks, sizeof *r->count);
	r->dominator = r->memory[0].items;
	r->bytes = r->memory[1].items;
	r->count = r->memory[2].items;
	for (uint32_t i = 0; i < d->blocks; i++)
		r->dominator[i] = XC_NO_BLOCK;
	add_up(d);
	if (r->holder_count)
		qsort(r->holders, r->holder_count, sizeof *r->holders, holder_order);
}

/* ---- together ---- */

static void dominators_init(struct dominators *d)
{
	uint32_t **const arrays[] = {&d->vertex, &d->number, &d->above, &d->up, &d->semi, &d->least};
	for (size_t i = 0; i < XC_COUNT(arrays); i++) {
		d->memory[i] = xc_reserve_new(d->blocks + d->retention->holder_count + 1, sizeof(uint32_t));
		*arrays[i] = d->memory[i].items;
	}
}

static void dominators_fini(struct dominators *d)
{
	for (size_t i = 0; i < XC_COUNT(d->memory); i++)
		xc_reserve_free(&d->memory[i]);
	free(d->holder_of);
	free(d->by_holder);
	free(d->begin);
	free(d->holder_number);
	free(d->several);
}

struct xc_error *xc_retention_of(struct xc_heap *heap, struct xc_retention **retention_out)
{
	struct xc_graph *graph;
	struct xc_error *err = xc_graph_of(heap, &graph);
	if (err)
		return err;
	if (!heap->retention) {
		struct xc_retention *r = heap->retention = xc_alloc(sizeof *r);
		struct dominators d = {.graph = graph, .retention = r, .blocks = (uint32_t)heap->blocks.count};
		r->heap = heap;
		xc_graph_back(graph);
		xc_graph_index_roots(graph);
		list_holders(r, graph);
		sort_roots(&d);
		dominators_init(&d);
		number_all(&d);
		find_dominators(&d);
		for (size_t i = 1; i < XC_COUNT(d.memory); i++)
			if (d.memory[i].items != d.up)
				xc_reserve_free(&d.memory[i]); /* the results take their room */
		add_results(&d);
		dominators_fini(&d);
	}
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
