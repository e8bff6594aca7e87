/* typing_flow: types flow along pointers.
 *
 * Blocks are visited level by level, all blocks of a level with the codes that they had at its beginning, so that
 * the result does not depend on the speed of threads. A visit collects the pointers of a block (typing_look.c).
 * They are looked up in batches, in which each step prefetches the memory of the next one (typing_hit.c). A block
 * that gets a better type is part of the next level. */
#include "heap/types/typing_queue.h"

#include <stdlib.h>
#include <string.h>

enum {
	AHEAD = 12,        /* blocks whose memory is prefetched */
	PIECE = 4096,      /* blocks in a piece of parallel work */
	ALONE = 3 * PIECE, /* so few are not worth threads */
};

/* ---- levels ---- */

static void request(struct xc_typing_queue *q, size_t number)
{
	const struct xc_engine *e = q->engine;
	if (number + AHEAD * 2 < e->queue_count[0])
		__builtin_prefetch(&e->heap->blocks.heads[e->queue[0][number + AHEAD * 2]]);
	if (number + AHEAD >= e->queue_count[0] || !q->own.bytes)
		return;
	uint64_t at = xc_block_addr(&e->heap->blocks, e->queue[0][number + AHEAD]) - q->own.lo;
	if (at < q->own.len)
		__builtin_prefetch(q->own.bytes + at);
}

struct xc_typing_queue *xc_typing_queue_of(struct xc_engine *e, unsigned worker)
{
	struct xc_typing_queue *q = e->workers[worker];
	if (q)
		return q;
	q = e->workers[worker] = xc_alloc(sizeof *q);
	q->engine = e;
	xc_window_init(&q->own, e->heap->process->space);
	xc_window_init(&q->there, e->heap->process->space);
	return q;
}

static void visit_piece(void *context, size_t piece, unsigned worker)
{
	struct xc_engine *e = context;
	struct xc_typing_queue *q = xc_typing_queue_of(e, worker);
	size_t end = (piece + 1) * PIECE < e->queue_count[0] ? (piece + 1) * PIECE : e->queue_count[0];
	for (size_t i = piece * PIECE; i < end; i++) {
		request(q, i);
		uint8_t before = q->most;
		uint32_t item = xc_code_item(e->frozen[i]);
		if (q->count && e->typing->items[item].confidence != before)
			xc_typing_queue_flush(q);
		xc_typing_look_at_block(q, e->queue[0][i], item);
	}
	xc_typing_queue_flush(q);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* Blocks of types that were not compiled were proposed unseen: a stale pointer would type a block by what it was. */
static void reject_unseen(struct xc_engine *e)
{
	struct xc_typing_queue *q = xc_typing_queue_of(e, 0);
	for (size_t i = 0; i < e->queue_count[0]; i++) {
		uint32_t item = xc_code_item(e->frozen[i]);
		uint32_t block = e->queue[0][i];
		if (!e->maps[e->facts[item].map]->fresh || (!xc_typing_is_text_instead(e, &q->own, block, item) &&
							    !xc_typing_is_refuted(e, &q->own, block, item)))
			continue;
		e->typing->by_block[e->queue[0][i]] = 0;
		e->frozen[i] = 0;
	}
}

/* Compiles new types, in an order independent of that of the queue. */
static void compile_new(struct xc_engine *e)
{
	uint32_t *found = NULL;
	size_t count = 0, capacity = 0;
	for (size_t i = 0; i < e->queue_count[0]; i++) {
		uint32_t map = e->facts[xc_code_item(e->frozen[i])].map;
		if (e->maps[map]->compiled || (count && found[count - 1] == map))
			continue;
		found = xc_grow(found, count, &capacity, sizeof *found);
		found[count++] = map;
	}
	if (count)
		qsort(found, count, sizeof *found, by_number);
	for (size_t i = 0; i < count; i++) {
		xc_typemap_compile(e, found[i]);
		e->maps[found[i]]->fresh = true;
	}
	if (count)
		reject_unseen(e);
	for (size_t i = 0; i < count; i++)
		e->maps[found[i]]->fresh = false;
	free(found);
}

/* Several containers may claim one block, old copies among them: the one with most elements counts. */
static void take_used(struct xc_engine *e)
{
	for (size_t i = 0; i < XC_COUNT(e->workers); i++) {
		struct xc_typing_queue *q = e->workers[i];
		for (size_t k = 0; q && k < q->used_count; k++) {
			const struct xc_used_part *part = &q->used[k].part;
			struct xc_used_part *have = &e->used[q->used[k].block];
			uint32_t length = part->behind - part->from, had = have->behind - have->from;
			if (!have->behind || length > had || (length == had && part->from < have->from))
				*have = *part;
		}
		if (q)
			q->used_count = 0;
	}
}

/* Visits the blocks in queue[0]. */
static void run_level(struct xc_engine *e)
{
	size_t count = e->queue_count[0];
	for (size_t i = 0; i < count; i++)
		e->frozen[i] = e->typing->by_block[e->queue[0][i]];
	compile_new(e);
	if (count > ALONE)
		xc_parallel(e->heap->jobs, (count + PIECE - 1) / PIECE, visit_piece, e);
	else
		for (size_t piece = 0; piece * PIECE < count; piece++)
			visit_piece(e, piece, 0);
	take_used(e);
}

void xc_typing_flow(struct xc_engine *e)
{
	while (e->queue_count[1]) {
		uint32_t *swap = e->queue[0];
		e->queue[0] = e->queue[1];
		e->queue[1] = swap;
		e->queue_count[0] = e->queue_count[1];
		e->queue_count[1] = 0;
		for (size_t i = 0; i < e->queue_count[0]; i++)
			e->queued[e->queue[0][i] >> 6] &= ~((uint64_t)1 << (e->queue[0][i] & 63));
		run_level(e);
	}
}

void xc_typing_visit_roots(struct xc_engine *e)
{
	struct xc_typing_queue *q = xc_typing_queue_of(e, 0);
	for (size_t i = 0; i < e->root_count; i++) {
		xc_typemap_compile(e, e->roots[i].map);
		xc_typing_look_at_root(q, &e->roots[i]);
	}
	take_used(e);
}

/* Is the slot waiting for a rule, or does it have a new one? */
static bool slot_waits(const struct xc_typemap_slot *slot, bool taught_only)
{
	return taught_only ? slot->taught : slot->pending;
}

static bool waits(const struct xc_typemap *map, const bool *waiting, bool taught_only)
{
	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct xc_typemap_slot *slot = &map->slots[i];
		for (uint32_t k = 0; slot->casts && k < slot->casts->count; k++)
			if (slot_waits(&slot->casts->slots[k], taught_only))
				return true;
		if (slot_waits(slot, taught_only) || (slot->kind == XC_SLOT_OBJECTS && waiting[slot->target]))
			return true;
		for (uint32_t k = 0; k < slot->object_count; k++)
			if (waiting[slot->objects[k]])
				return true;
	}
	return false;
}

/* By map: does it have pointers without a result? Computed in rounds, from inner to outer objects, as deep as
 * objects nest: a depth-first search would visit a type once for each path to it. */
static bool *waiting_maps(const struct xc_engine *e, bool taught_only)
{
	bool *waiting = xc_alloc(e->map_count + 1), more = true;
	for (unsigned nest = 0; more && nest <= XC_TYPING_NEST; nest++) {
		more = false;
		for (size_t i = 1; i < e->map_count; i++)
			if (!waiting[i] && waits(e->maps[i], waiting, taught_only))
				waiting[i] = more = true;
	}
	return waiting;
}

enum { CHUNK = 1 << 20 };

static void forget_lessons(struct xc_engine *e)
{
	for (size_t i = 1; i < e->map_count; i++)
		for (uint32_t k = 0; k < e->maps[i]->slot_count; k++) {
			struct xc_typemap_slot *slot = &e->maps[i]->slots[k];
			slot->taught = false;
			for (uint32_t c = 0; slot->casts && c < slot->casts->count; c++)
				slot->casts->slots[c].taught = false;
		}
}

void xc_typing_visit_again(struct xc_engine *e, bool taught_only)
{
	xc_auto(xc_freep) bool *waiting = waiting_maps(e, taught_only);
	size_t count = e->heap->blocks.count;
	forget_lessons(e);
	xc_typing_visit_roots(e);
	for (size_t block = 0; block < count;) {
		for (e->queue_count[0] = 0; block < count && e->queue_count[0] < CHUNK; block++) {
			uint32_t code = e->typing->by_block[block];
			if (code && waiting[e->facts[xc_code_item(code)].map])
				e->queue[0][e->queue_count[0]++] = (uint32_t)block;
		}
		run_level(e);
	}
	xc_typing_flow(e);
}

struct xc_type_conflict *xc_typing_find_conflicts(struct xc_engine *e, size_t *count_out)
{
	size_t count = e->heap->blocks.count;
	struct xc_type_conflict *claims = NULL;
	e->checking = true;
	*count_out = 0;
	xc_typing_visit_roots(e);
	for (size_t block = 0; block < count;) {
		for (e->queue_count[0] = 0; block < count && e->queue_count[0] < CHUNK; block++) {
			uint32_t code = e->typing->by_block[block];
			if (code && e->maps[e->facts[xc_code_item(code)].map]->has_pointers)
				e->queue[0][e->queue_count[0]++] = (uint32_t)block;
		}
		run_level(e);
	}
	e->checking = false;
	for (size_t i = 0; i < XC_COUNT(e->workers); i++) {
		struct xc_typing_queue *q = e->workers[i];
		if (!q || !q->claim_count)
			continue;
		claims = xc_realloc(claims, (*count_out + q->claim_count) * sizeof *claims);
		memcpy(claims + *count_out, q->claims, q->claim_count * sizeof *claims);
		*count_out += q->claim_count;
		q->claim_count = 0;
	}
	return claims;
}

void xc_typing_hits_of(struct xc_engine *e, uint32_t block, xc_hit_fn *seen, void *context)
{
	struct xc_typing_queue *q = xc_typing_queue_of(e, 0);
	q->seen = seen;
	q->context = context;
	xc_typing_look_at_block(q, block, e->typing->by_block[block]);
	xc_typing_queue_flush(q);
	q->seen = NULL;
}

void xc_typing_roots_hits(struct xc_engine *e, xc_hit_fn *seen, void *context)
{
	struct xc_typing_queue *q = xc_typing_queue_of(e, 0);
	q->seen = seen;
	q->context = context;
	for (size_t i = 0; i < e->root_count; i++)
		xc_typing_look_at_root(q, &e->roots[i]);
	q->seen = NULL;
}

void xc_typing_hits_of_maps(struct xc_engine *e, const bool *maps, xc_hit_fn *seen, void *context)
{
	struct xc_typing_queue *q = xc_typing_queue_of(e, 0);
	q->seen = seen;
	q->context = context;
	for (size_t i = 0; i < e->root_count; i++)
		if (maps[e->roots[i].map])
			xc_typing_look_at_root(q, &e->roots[i]);
	for (size_t block = 0; block < e->heap->blocks.count; block++) {
		uint32_t item = e->typing->by_block[block];
		if (item && maps[e->facts[item].map])
			xc_typing_look_at_block(q, (uint32_t)block, item);
	}
	xc_typing_queue_flush(q);
	q->seen = NULL;
}

void xc_typing_each_hit(struct xc_engine *e, bool pending_only, xc_hit_fn *seen, void *context)
{
	struct xc_typing_queue *q = xc_typing_queue_of(e, 0);
	xc_auto(xc_freep) bool *waiting = waiting_maps(e, false);
	xc_typing_roots_hits(e, seen, context);
	q->seen = seen;
	q->context = context;
	for (size_t block = 0; block < e->heap->blocks.count; block++) {
		uint32_t code = e->typing->by_block[block], item = e->decoded ? code : xc_code_item(code);
		if (item && (!pending_only || waiting[e->facts[item].map]))
			xc_typing_look_at_block(q, (uint32_t)block, item);
	}
	xc_typing_queue_flush(q);
	q->seen = NULL;
}

/* ---- the engine's memory ---- */

void xc_typing_flow_init(struct xc_engine *e)
{
	size_t count = e->heap->blocks.count;
	e->memory[0] = xc_reserve_new(count, sizeof **e->queue);
	e->memory[1] = xc_reserve_new(count, sizeof **e->queue);
	e->memory[2] = xc_reserve_new(count, sizeof *e->frozen);
	e->memory[3] = xc_reserve_new(count / 64 + 1, sizeof *e->queued);
	e->queue[0] = e->memory[0].items;
	e->queue[1] = e->memory[1].items;
	e->frozen = e->memory[2].items;
	e->queued = e->memory[3].items;
	e->memory[4] = xc_reserve_new(count, sizeof *e->used);
	e->used = e->memory[4].items;
}

void xc_typing_flow_fini(struct xc_engine *e)
{
	for (size_t i = 0; i < XC_COUNT(e->memory); i++)
		xc_reserve_free(&e->memory[i]);
	for (size_t i = 0; i < XC_COUNT(e->workers); i++) {
		if (!e->workers[i])
			continue;
		xc_window_fini(&e->workers[i]->own);
		xc_window_fini(&e->workers[i]->there);
		free(e->workers[i]->claims);
		free(e->workers[i]->used);
		free(e->workers[i]);
		e->workers[i] = NULL;
	}
}
