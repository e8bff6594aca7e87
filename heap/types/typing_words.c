/* typing_words: the pointers of packed objects, which the graph's scan of aligned words passes over, and those to parts
 * of objects, which look like accidents to it. Visits only the objects of types that have such pointers: mostly there
 * are none. */
#include "heap/types/typing_queue.h"

#include <stdlib.h>
#include <string.h>

#include "heap/blocks/allocator.h"
#include "heap/blocks/scan.h"
#include "heap/graph/inner_pointer.h"
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

/* ---- pointers to parts of objects ---- */

static bool is_certain(const struct xc_engine *e, uint32_t block)
{
	return e->typing->items[e->typing->by_block[block]].confidence > XC_TYPE_WEAK;
}

/* The type of the block's objects. */
static uint32_t base_of(const struct xc_engine *e, uint32_t block)
{
	return e->maps[e->facts[e->typing->by_block[block]].map]->base;
}

/* Does an object of `outer` have one of `inner` at the offset? */
static bool holds(const struct xc_engine *e, uint32_t outer, uint32_t inner, uint64_t offset)
{
	size_t count;
	const struct xc_type_enclosing *all = xc_type_index_enclosing(e, inner, &count);
	size_t lo =
		XC_LOWER_BOUND(count, i, all[i].offset < offset || (all[i].offset == offset && all[i].outer < outer));
	return lo < count && all[lo].offset == offset && all[lo].outer == outer;
}

/* Does it lead to an object of its own type within the block: to a link or a base, to the first element after the
 * number that new[] stores? A pointer to another element does not: that is where it was moved to. */
static bool is_meant(const struct xc_engine *e, const struct xc_hit *hit)
{
	uint32_t item = e->typing->by_block[hit->block], outer = base_of(e, hit->block), inner;
	const struct xc_typed *typed = &e->typing->items[item];
	uint64_t size = e->maps[outer]->size;
	if (hit->slot->kind != XC_SLOT_POINTER || hit->slot->ambiguous || hit->slot->headers || !item ||
	    hit->offset < typed->offset || !size || !is_certain(e, hit->block) ||
	    (hit->from != XC_NO_BLOCK && !is_certain(e, hit->from)))
		return false;
	inner = e->maps[hit->slot->target]->base;
	if (hit->offset == typed->offset && inner == outer)
		return true;
	uint64_t at = hit->offset - typed->offset;
	return e->maps[inner]->is_record && holds(e, outer, inner, typed->shape == XC_TYPED_ARRAY ? at % size : at);
}

/* ---- links of lists ---- */

/* Is it certainly one of the map's objects, whose first word leads to the next such block? */
static bool links_on(struct xc_typing_queue *q, uint32_t block, uint32_t map, uint32_t *next_out)
{
	const struct xc_engine *e = q->engine;
	const struct xc_typed *typed = &e->typing->items[e->typing->by_block[block]];
	uint64_t word;
	if (!is_certain(e, block) || typed->offset || base_of(e, block) != map ||
	    !xc_window_word(&q->there, xc_block_addr(&e->heap->blocks, block), &word))
		return false;
	*next_out = xc_blocks_find(&e->heap->blocks, word);
	return *next_out != XC_NO_BLOCK && xc_block_addr(&e->heap->blocks, *next_out) == word;
}

/* Does the block contain more than its first word? */
static bool is_written(struct xc_typing_queue *q, uint32_t block)
{
	const struct xc_engine *e = q->engine;
	uint64_t size = xc_block_size(&e->heap->blocks, block), shown = size < XC_WINDOW_COPY ? size : XC_WINDOW_COPY;
	const uint8_t *bytes = xc_window(&q->there, xc_block_addr(&e->heap->blocks, block), shown);
	return bytes && shown > e->word && !xc_is_zero(bytes + e->word, shown - e->word);
}

/* Is it the first word of an object, a pointer to such an object after it, in a list with others that were written? A
 * link that an allocator left in a block would lead on only if the next one was not written either. */
static bool is_link(const struct xc_engine *e, const struct xc_hit *hit)
{
	struct xc_typing_queue *q = xc_typing_queue_of((struct xc_engine *)e, 0);
	uint32_t map = e->maps[hit->slot->target]->base, next;
	if (hit->slot->kind != XC_SLOT_POINTER || hit->slot->ambiguous || !links_on(q, hit->from, map, &next) ||
	    !is_certain(e, hit->block) || base_of(e, hit->block) != map)
		return false;
	if (is_written(q, hit->block) && links_on(q, hit->block, map, &next) && is_certain(e, next) &&
	    base_of(e, next) == map)
		return true;
	return hit->from && is_written(q, hit->from - 1) && links_on(q, hit->from - 1, map, &next) && next == hit->from;
}

/* Marks the types of which a block may have an object in its middle. */
static void find_inside(struct xc_engine *e)
{
	for (uint32_t i = 1; i < e->map_count; i++) {
		size_t count;
		const struct xc_type_enclosing *all = xc_type_index_enclosing(e, e->maps[i]->base, &count);
		e->maps[i]->is_inside = e->maps[i]->is_record && count && all[count - 1].offset;
	}
	for (size_t i = 1; i < e->typing->item_count; i++)
		e->maps[e->facts[i].map]->is_inside |= e->typing->items[i].offset != 0;
}

/* May its objects have such pointers, or links of lists? */
static bool points_inside(const struct xc_engine *e, const struct xc_typemap *map)
{
	bool links = e->allocator && e->allocator->leaves_links;
	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct xc_typemap_slot *slot = &map->slots[i];
		if (slot->kind == XC_SLOT_POINTER &&
		    (e->maps[slot->target]->is_inside ||
		     (links && slot->offset == 0 && e->maps[slot->target]->base == map->base)))
			return true;
	}
	return false;
}

struct inner {
	struct xc_engine *engine;
	struct xc_inner_pointer *items;
	size_t count, capacity;
};

static void take_inner(void *context, const struct xc_hit *hit)
{
	struct inner *f = context;
	const struct xc_heap *heap = f->engine->heap;
	bool first = !hit->offset && hit->from != XC_NO_BLOCK && hit->block == hit->from + 1 &&
		     hit->at == xc_block_addr(&heap->blocks, hit->from) && xc_inner_link_matters(heap, hit->from);
	bool inner = hit->offset && hit->at && hit->from != hit->block && xc_inner_pointers_matter(heap, hit->block);
	if (f->count >= XC_INNER_POINTERS ||
	    !((first && is_link(f->engine, hit)) || (inner && is_meant(f->engine, hit))))
		return;
	f->items = xc_grow(f->items, f->count, &f->capacity, sizeof *f->items);
	f->items[f->count++] = (struct xc_inner_pointer){.at = hit->at, .from = hit->from, .block = hit->block};
}

void xc_typing_find_inner(struct xc_engine *e)
{
	struct inner f = {.engine = e};
	if (!xc_inner_pointers_matter_at_all(e->heap))
		return;
	find_inside(e);
	xc_auto(xc_freep) bool *maps = maps_with(e, points_inside);
	if (!maps)
		return;
	xc_typing_hits_of_maps(e, maps, take_inner, &f);
	if (f.count)
		xc_inner_pointers_set(e->heap, f.items, f.count);
}

/* ---- pointers of packed objects ---- */

static void take(void *context, const struct xc_hit *hit)
{
	struct found *f = context;
	const struct xc_blocks *blocks = &f->engine->heap->blocks;
	if (hit->at % f->engine->word == 0 || f->count >= XC_MISALIGNED || hit->from == hit->block ||
	    !xc_scan_has_edges(blocks->heads[hit->block]) ||
	    (hit->from != XC_NO_BLOCK && !xc_scan_has_edges(blocks->heads[hit->from])))
		return;
	f->items = xc_grow(f->items, f->count, &f->capacity, sizeof *f->items);
	f->items[f->count++] = (struct xc_misaligned_word){.at = hit->at,
							   .from = hit->from,
							   .block = hit->block,
							   .interior = hit->offset && !is_meant(f->engine, hit)};
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

bool xc_typing_wants_stale(const struct xc_visit *visit)
{
	const struct xc_typing_queue *q = visit->queue;
	return q->stale_wanted && q->stale_count < XC_STALE_RANGES && visit->most > XC_TYPE_WEAK;
}

void xc_typing_stale(struct xc_visit *visit, xc_addr lo, xc_addr hi, enum xc_stale_range_kind kind)
{
	struct xc_typing_queue *q = visit->queue;
	if (!xc_typing_wants_stale(visit))
		return;
	q->stale = xc_grow(q->stale, q->stale_count, &q->stale_capacity, sizeof *q->stale);
	q->stale[q->stale_count++] = (struct xc_stale_range){
		.lo = lo, .hi = hi, .name = name_of(q, visit->block), .in_block = !q->root, .kind = kind};
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
