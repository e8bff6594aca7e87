/* typing_vote: blocks for which pointers suggest different types.
 *
 * Stale pointers, casts and unions make some pointers wrong. After all types have flowed, the pointers to each
 * disputed block are counted. The type that most of them suggest is the block's; it is weak unless nearly all
 * agree. Of two with equally many, the one that the block's words do not contradict. */
#include "heap/types/typing_queue.h"

#include <stdlib.h>
#include <string.h>

enum { CLEAR = 20 }; /* votes for, to one against */

static bool is_derived(const struct xc_typemap *base, uint32_t number)
{
	for (uint32_t i = 0; i < base->derived_count; i++)
		if (base->derived[i] == number)
			return true;
	return false;
}

bool xc_typing_agree(const struct xc_engine *e, uint32_t map, uint32_t item)
{
	const struct xc_typed *typed = &e->typing->items[item];
	uint32_t known = e->maps[e->facts[item].map]->base;
	map = e->maps[map]->base;
	return known == map || typed->offset || is_derived(e->maps[map], known) || is_derived(e->maps[known], map) ||
	       e->maps[map]->bare->kind == XC_TYPE_UNION;
}

/* ---- conflicts ---- */

static int by_block(const void *a, const void *b)
{
	const struct xc_type_conflict *x = a, *y = b;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->map != y->map)
		return x->map < y->map ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

static uint32_t lowered(struct xc_engine *e, uint32_t item, bool weak, uint32_t *twins)
{
	struct xc_typed what = e->typing->items[item];
	if (!twins[item * 2 + weak]) {
		what.conflicting = true;
		what.confidence = weak ? XC_TYPE_WEAK : what.confidence;
		uint32_t twin = twins[item * 2 + weak] = xc_typing_new_item(e, e->facts[item].map, &what);
		e->facts[twin].is_seed = twin && e->facts[item].is_seed;
	}
	return twins[item * 2 + weak];
}

/* The suggestions for one block: the type that most of them are for. */
static void settle(struct xc_engine *e, const struct xc_type_conflict *claims, size_t count, struct xc_window *window,
		   uint32_t *twins)
{
	uint32_t *place = &e->typing->by_block[claims->block], item = xc_code_item(*place), winner = item;
	size_t most = 0, have = 0;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && claims[end].map == claims[i].map; end++)
			;
		if (claims[i].map == e->facts[item].map)
			have = end - i;
		else if (end - i > most) {
			most = end - i;
			winner = claims[i].item;
		}
	}
	bool more = most > have, exact = e->typing->items[item].confidence == XC_TYPE_EXACT;
	unsigned speak, others = 1;
	bool contradicted = most == have && xc_typing_contradicts(e, window, claims->block, item, &speak) && speak &&
			    xc_typing_contradicts(e, window, claims->block, winner, &others) && !others;
	if (exact && (have > most || (!more && e->facts[item].is_seed)))
		return;
	bool changed = (more || contradicted) && xc_typing_is_plausible(e, window, claims->block, winner);
	size_t votes = changed ? most : have;
	uint32_t now = lowered(e, changed ? winner : item, votes < CLEAR * (count - votes), twins);
	if (!now)
		return;
	e->changed |= e->maps[e->facts[item].map]->has_pointers;
	*place = xc_code(e, now);
	if (changed)
		xc_typing_enqueue(e, claims->block); /* what it points to was not seen by this type */
}

static struct xc_type_conflict *disputed_claims(struct xc_engine *e, size_t *count_out)
{
	struct xc_type_conflict *claims = xc_typing_find_conflicts(e, count_out);
	if (!*count_out)
		return claims;
	uint64_t *disputed = xc_alloc((e->heap->blocks.count / 64 + 1) * sizeof *disputed);
	for (size_t i = 0; i < *count_out; i++)
		disputed[claims[i].block >> 6] |= (uint64_t)1 << (claims[i].block & 63);
	free(claims);
	e->disputed = disputed;
	claims = xc_typing_find_conflicts(e, count_out);
	e->disputed = NULL;
	free(disputed);
	return claims;
}

void xc_typing_settle_conflicts(struct xc_engine *e)
{
	size_t count;
	struct xc_type_conflict *claims = disputed_claims(e, &count);
	struct xc_window window;
	if (count) {
		qsort(claims, count, sizeof *claims, by_block);
		uint32_t *twins = xc_alloc(e->typing->item_count * 2 * sizeof *twins);
		xc_window_init(&window, e->heap->process->space);
		for (size_t i = 0, end; i < count; i = end) {
			for (end = i; end < count && claims[end].block == claims[i].block; end++)
				;
			settle(e, claims + i, end - i, &window, twins);
		}
		xc_window_fini(&window);
		free(twins);
	}
	free(claims);
}

/* ---- the evidence for a block ---- */

struct collected {
	struct xc_engine *engine;
	uint32_t block;
	struct xc_vote *votes;
	size_t count, most;
};

static void collect(void *context, const struct xc_hit *hit)
{
	struct collected *c = context;
	const struct xc_engine *e = c->engine;
	if (hit->block != c->block || !hit->slot->target)
		return;
	const struct xc_type *type = e->maps[hit->slot->target]->type;
	const char *via = hit->items ? e->typing->items[hit->items].via : hit->slot->path;
	for (size_t i = 0; i < c->count; i++)
		if (c->votes[i].type == type && strcmp(c->votes[i].via, via) == 0) {
			c->votes[i].votes++;
			return;
		}
	if (c->count < c->most)
		c->votes[c->count++] = (struct xc_vote){.type = type, .via = via, .votes = 1};
}

static int by_votes(const void *a, const void *b)
{
	const struct xc_vote *x = a, *y = b;
	if (x->votes != y->votes)
		return x->votes > y->votes ? -1 : 1;
	return strcmp(x->via, y->via);
}

size_t xc_typing_votes(const struct xc_typing *typing, uint32_t block, struct xc_vote *votes, size_t most)
{
	struct xc_engine *e = xc_engine_of(typing);
	struct collected c = {.engine = e, .block = block, .votes = votes, .most = most};
	struct xc_graph *graph;
	struct xc_error *err = xc_graph_of(e->heap, &graph);
	if (err) {
		xc_error_free(err);
		return 0;
	}
	xc_graph_back(graph);
	for (uint32_t i = graph->back_start[block]; i < graph->back_start[block + 1]; i++)
		if (i == graph->back_start[block] || graph->back[i] != graph->back[i - 1])
			xc_typing_hits_of(e, graph->back[i], collect, &c);
	xc_typing_roots_hits(e, collect, &c);
	if (c.count)
		qsort(votes, c.count, sizeof *votes, by_votes);
	return c.count;
}
