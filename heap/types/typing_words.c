/* typing_words: the pointers of packed objects, which the graph's scan of aligned words passes over. Visits only
 * the objects of types that have such pointers: mostly there are none. */
#include "heap/types/typing_queue.h"

#include <stdlib.h>
#include <string.h>

#include "heap/blocks/scan.h"
#include "heap/graph/misaligned.h"

struct found {
	const struct xc_engine *engine;
	struct xc_misaligned_word *items;
	size_t count, capacity;
};

/* May the objects of an array, or the array itself, lie at other addresses than multiples of a word? */
static bool is_off(const struct xc_engine *e, const struct xc_typemap_slot *slot)
{
	return slot->offset % e->word != 0 || (slot->count != 1 && slot->stride % e->word != 0);
}

/* A type's own slots say so, or those of the objects in it. */
typedef bool has_fn(const struct xc_engine *e, const struct xc_typemap *map);

static bool has_misaligned(const struct xc_engine *e, const struct xc_typemap *map)
{
	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct xc_typemap_slot *slot = &map->slots[i];
		bool objects = slot->kind == XC_SLOT_OBJECTS && e->maps[slot->target]->has_pointers;
		if ((slot->kind <= XC_SLOT_VOID || objects || slot->kind == XC_SLOT_EVIDENCE) && is_off(e, slot))
			return true;
	}
	return map->has_pointers && map->size % e->word != 0;
}

static bool says_stale(const struct xc_engine *e, const struct xc_typemap *map)
{
	(void)e;
	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct xc_typemap_slot *slot = &map->slots[i];
		if (slot->kind == XC_SLOT_EVIDENCE && slot->evidence->says_stale &&
		    slot->evidence->says_stale(slot->met))
			return true;
	}
	return false;
}

static bool contains(const struct xc_typemap *map, const bool *known)
{
	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct xc_typemap_slot *slot = &map->slots[i];
		if (slot->kind == XC_SLOT_OBJECTS && known[slot->target])
			return true;
		for (uint32_t k = 0; k < slot->object_count; k++)
			if (known[slot->objects[k]])
				return true;
	}
	return false;
}

/* By map: does it, or an object in it, have the property? NULL: none. */
static bool *maps_with(const struct xc_engine *e, has_fn *has)
{
	bool *known = xc_alloc(e->map_count + 1), more = false;
	for (size_t i = 1; i < e->map_count; i++)
		more |= known[i] = has(e, e->maps[i]);
	if (!more) {
		free(known);
		return NULL;
	}
	for (unsigned nest = 0; more && nest <= XC_TYPING_NEST; nest++) {
		more = false;
		for (size_t i = 1; i < e->map_count; i++)
			if (!known[i] && contains(e->maps[i], known))
				known[i] = more = true;
	}
	return known;
}

static void take(void *context, const struct xc_hit *hit)
{
	struct found *f = context;
	const struct xc_blocks *blocks = &f->engine->heap->blocks;
	if (hit->at % f->engine->word == 0 || f->count >= XC_MISALIGNED || hit->from == hit->block ||
	    !xc_scan_has_edges(blocks->heads[hit->block]) ||
	    (hit->from != XC_NO_BLOCK && !xc_scan_has_edges(blocks->heads[hit->from])))
		return;
	f->items = xc_grow(f->items, f->count, &f->capacity, sizeof *f->items);
	f->items[f->count++] = (struct xc_misaligned_word){
		.at = hit->at, .from = hit->from, .block = hit->block, .interior = hit->offset != 0};
}

struct xc_error *xc_typing_find_misaligned(struct xc_engine *e)
{
	struct found f = {.engine = e};
	xc_auto(xc_freep) bool *maps = maps_with(e, has_misaligned);
	if (!maps)
		return NULL;
	xc_typing_hits_of_maps(e, maps, take, &f);
	return f.count ? xc_misaligned_set(e->heap, f.items, f.count) : NULL;
}

/* ---- words that may be stale ---- */

/* "items" of "global items", "local items of main"; of an object in a block its type. */
static const char *name_of(const struct xc_typing_queue *q, uint32_t block)
{
	const struct xc_typing *typing = q->engine->typing;
	const char *via = q->root ? strchr(q->root->via, ' ') : NULL;
	if (!q->root)
		return block == XC_NO_BLOCK ? NULL : xc_typing_name(typing, block);
	return via ? via + 1 : q->root->via;
}

void xc_typing_stale(struct xc_visit *visit, xc_addr lo, xc_addr hi, bool end)
{
	struct xc_typing_queue *q = visit->queue;
	if (!q->stale_wanted || q->stale_count >= XC_STALE_RANGES || visit->most <= XC_TYPE_WEAK)
		return;
	q->stale = xc_grow(q->stale, q->stale_count, &q->stale_capacity, sizeof *q->stale);
	q->stale[q->stale_count++] = (struct xc_stale_range){
		.lo = lo, .hi = hi, .name = name_of(q, visit->block), .in_block = !q->root, .end = end};
}

static void ignore(void *context, const struct xc_hit *hit)
{
	(void)context;
	(void)hit;
}

void xc_typing_find_stale(struct xc_engine *e)
{
	struct xc_typing_queue *q = xc_typing_queue_of(e, 0);
	xc_auto(xc_freep) bool *maps = maps_with(e, says_stale);
	if (!maps)
		return;
	q->stale_wanted = true;
	xc_typing_hits_of_maps(e, maps, ignore, NULL);
	q->stale_wanted = false;
	if (q->stale_count)
		xc_stale_ranges_set(e->heap, q->stale, q->stale_count);
}
