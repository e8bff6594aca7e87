/* Cycles are found by Tarjan's algorithm for strongly connected components, among the blocks that no acyclic head
 * leads to. It does not recurse: the way back up is the `parent` array, which is rebuilt afterwards. */
#include "heap/graph/leak_structures.h"

#include <stdlib.h>

static bool is_member(const struct xc_graph *graph, uint32_t block, bool possible)
{
	return possible ? xc_graph_possibly_leaked(graph, block) : xc_graph_leaked(graph, block);
}

static void list_members(struct xc_leak_structures *l, bool possible)
{
	size_t blocks = l->graph->heap->blocks.count, words = blocks / 64 + 1;
	l->bits = xc_graph_bits(blocks);
	l->rank = xc_alloc(words * sizeof *l->rank);
	for (uint32_t i = 0; i < blocks; i++) {
		if (i % 64 == 0)
			l->rank[i / 64] = (uint32_t)l->count;
		if (is_member(l->graph, i, possible)) {
			xc_graph_set_bit(l->bits, i);
			l->count++;
		}
	}
	l->blocks = xc_alloc((l->count + 1) * sizeof *l->blocks);
	for (uint32_t i = 0, at = 0; i < blocks; i++)
		if (xc_graph_bit(l->bits, i))
			l->blocks[at++] = i;
}

/* The member that an edge leads to, or XC_NO_BLOCK. */
static uint32_t target_of(const struct xc_leak_structures *l, uint32_t edge)
{
	return xc_leak_structures_place(l, l->graph->to[edge] & ~XC_EDGE_INTERIOR);
}

/* ---- structures ---- */

/* Takes all blocks that a head leads to and that have no head yet. *ordered counts the places in order. */
static void take_structure(struct xc_leak_structures *l, uint32_t head, size_t *ordered)
{
	const struct xc_graph *graph = l->graph;
	size_t at = *ordered;
	l->head[head] = l->parent[head] = head;
	l->order[(*ordered)++] = head;
	l->head_count++;
	for (; at < *ordered; at++) {
		uint32_t here = l->order[at], block = l->blocks[here];
		for (uint32_t e = graph->start[block]; e < graph->start[block + 1]; e++) {
			uint32_t there = target_of(l, e);
			if (there == XC_NO_BLOCK || l->head[there] != XC_NO_BLOCK)
				continue;
			l->head[there] = head;
			l->parent[there] = here;
			l->order[(*ordered)++] = there;
		}
	}
}

static void take_unpointed(struct xc_leak_structures *l, size_t *ordered)
{
	const struct xc_graph *graph = l->graph;
	uint64_t *pointed = xc_graph_bits(l->count);
	for (uint32_t i = 0; i < l->count; i++)
		for (uint32_t e = graph->start[l->blocks[i]]; e < graph->start[l->blocks[i] + 1]; e++) {
			uint32_t there = target_of(l, e);
			if (there != XC_NO_BLOCK)
				xc_graph_set_bit(pointed, there);
		}
	for (uint32_t i = 0; i < l->count; i++)
		if (!xc_graph_bit(pointed, i))
			take_structure(l, i, ordered);
	free(pointed);
}

/* ---- cycles ---- */

/* By place; a block that is on no stack has its component. */
struct cycles {
	struct xc_leak_structures *l;
	uint32_t *number; /* from 1, in the order of the search; 0: not seen */
	uint32_t *low;    /* the lowest number reached; then the component */
	uint32_t *edge;   /* the next one to follow */
	uint32_t *stack;
	uint32_t numbers, components;
	size_t stacked;
	uint64_t *done; /* bit per place: has its component */
};

static void begin(struct cycles *c, uint32_t place, uint32_t from)
{
	c->number[place] = c->low[place] = ++c->numbers;
	c->edge[place] = c->l->graph->start[c->l->blocks[place]];
	c->l->parent[place] = from;
	c->stack[c->stacked++] = place;
}

/* All edges of a place are followed: if none leads further up, the stack down to it is a component. */
static void finish(struct cycles *c, uint32_t place)
{
	if (c->low[place] != c->number[place])
		return;
	uint32_t member;
	do {
		member = c->stack[--c->stacked];
		c->low[member] = c->components;
		xc_graph_set_bit(c->done, member);
	} while (member != place);
	c->components++;
}

/* The next place to visit from here, or XC_NO_BLOCK. */
static uint32_t step(struct cycles *c, uint32_t here)
{
	struct xc_leak_structures *l = c->l;
	uint32_t end = l->graph->start[l->blocks[here] + 1];
	while (c->edge[here] < end) {
		uint32_t there = target_of(l, c->edge[here]++);
		if (there == XC_NO_BLOCK || l->head[there] != XC_NO_BLOCK)
			continue;
		if (!c->number[there])
			return there;
		if (!xc_graph_bit(c->done, there) && c->number[there] < c->low[here])
			c->low[here] = c->number[there];
	}
	return XC_NO_BLOCK;
}

static void search_from(struct cycles *c, uint32_t first)
{
	uint32_t here = first;
	begin(c, first, first);
	for (;;) {
		uint32_t there = step(c, here);
		if (there != XC_NO_BLOCK) {
			begin(c, there, here);
			here = there;
			continue;
		}
		uint32_t up = c->l->parent[here], low = c->low[here];
		finish(c, here);
		if (here == first)
			return;
		if (!xc_graph_bit(c->done, here) && low < c->low[up])
			c->low[up] = low;
		here = up;
	}
}

/* The lowest block of each component without incoming links is a head. */
static void take_sources(struct cycles *c, size_t *ordered)
{
	struct xc_leak_structures *l = c->l;
	uint64_t *led = xc_graph_bits(c->components);
	for (uint32_t i = 0; i < l->count; i++)
		for (uint32_t e = l->graph->start[l->blocks[i]]; c->number[i] && e < l->graph->start[l->blocks[i] + 1];
		     e++) {
			uint32_t there = target_of(l, e);
			if (there != XC_NO_BLOCK && c->number[there] && c->low[there] != c->low[i])
				xc_graph_set_bit(led, c->low[there]);
		}
	for (uint32_t i = 0; i < l->count; i++)
		if (l->head[i] == XC_NO_BLOCK && !xc_graph_bit(led, c->low[i]))
			take_structure(l, i, ordered);
	free(led);
}

static void take_cycles(struct xc_leak_structures *l, size_t *ordered)
{
	size_t bytes = (l->count + 1) * sizeof(uint32_t);
	struct cycles c = {.l = l,
			   .number = xc_alloc(bytes),
			   .low = xc_alloc(bytes),
			   .edge = xc_alloc(bytes),
			   .stack = xc_alloc(bytes),
			   .done = xc_graph_bits(l->count)};
	for (uint32_t i = 0; i < l->count; i++)
		if (l->head[i] == XC_NO_BLOCK && !c.number[i])
			search_from(&c, i);
	take_sources(&c, ordered);
	free(c.number);
	free(c.low);
	free(c.edge);
	free(c.stack);
	free(c.done);
}

void xc_leak_structures_find(struct xc_leak_structures *leaked, const struct xc_graph *graph, bool possible)
{
	size_t ordered = 0;
	*leaked = (struct xc_leak_structures){.graph = graph};
	list_members(leaked, possible);
	leaked->parent = xc_alloc((leaked->count + 1) * sizeof *leaked->parent);
	leaked->head = xc_alloc((leaked->count + 1) * sizeof *leaked->head);
	leaked->order = xc_alloc((leaked->count + 1) * sizeof *leaked->order);
	for (size_t i = 0; i < leaked->count; i++)
		leaked->head[i] = XC_NO_BLOCK;
	take_unpointed(leaked, &ordered);
	if (ordered < leaked->count)
		take_cycles(leaked, &ordered);
}

void xc_leak_structures_fini(struct xc_leak_structures *leaked)
{
	free(leaked->blocks);
	free(leaked->parent);
	free(leaked->head);
	free(leaked->order);
	free(leaked->bits);
	free(leaked->rank);
	*leaked = (struct xc_leak_structures){0};
}
