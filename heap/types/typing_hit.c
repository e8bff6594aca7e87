/* typing_hit: what a pointer proposes for the block that it leads to.
 *
 * A proposal replaces the block's type if it is better and if the block's memory does not contradict it. Pointers
 * that are ambiguous by themselves (into a block larger than the type, into the middle of a block, void *) are left
 * to rules (typing_rule.c). */
#include "heap/types/typing_map.h"
#include "heap/types/typing_queue.h"

#include <string.h>

enum { SHORTEST_TEXT = 4 };

/* ---- proposing ---- */

void xc_typing_enqueue(struct xc_engine *e, uint32_t block)
{
	uint64_t bit = (uint64_t)1 << (block & 63);
	if (__atomic_fetch_or(&e->queued[block >> 6], bit, __ATOMIC_RELAXED) & bit)
		return;
	e->queue[1][__atomic_fetch_add(&e->queue_count[1], 1, __ATOMIC_RELAXED)] = block;
}

static bool needs_visit(const struct xc_typemap *map)
{
	return map->has_pointers || !map->compiled;
}

/* The item for a block whose type is final: the same object, no surer than it was; 0: another one. */
static uint32_t confirmed(const struct xc_engine *e, uint32_t block, uint32_t item)
{
	uint32_t final = e->final[block];
	const struct xc_typed *a = &e->typing->items[item], *b = &e->typing->items[final];
	if (!final || e->facts[item].map != e->facts[final].map || a->shape != b->shape || a->offset != b->offset)
		return 0;
	return b->confidence < a->confidence ? e->facts[item].weak : item;
}

static void propose(struct xc_typing_queue *q, uint32_t block, uint32_t item)
{
	struct xc_engine *e = q->engine;
	if (e->final && !(item = confirmed(e, block, item)))
		return;
	uint32_t *place = &e->typing->by_block[block], code = xc_code(e, item);
	uint32_t old = __atomic_load_n(place, __ATOMIC_RELAXED);
	if (code <= old || e->typing->items[item].confidence < e->least ||
	    !xc_typing_is_plausible(e, &q->there, block, item) || xc_typing_is_refuted(e, &q->there, block, item))
		return;
	while (code > old && !__atomic_compare_exchange_n(place, &old, code, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	const struct xc_typemap *had = e->maps[e->facts[xc_code_item(old)].map];
	if (code > old && had->has_pointers && e->facts[item].map != e->facts[xc_code_item(old)].map)
		__atomic_store_n(&e->changed, true, __ATOMIC_RELAXED);
	if (code > old && needs_visit(e->maps[e->facts[item].map]))
		xc_typing_enqueue(e, block);
}

/* ---- the proposal of a pointer ---- */

static bool is_used(const struct xc_blocks *blocks, uint32_t block)
{
	return !xc_block_is_free(xc_block_state(blocks, block));
}

static uint32_t item_of_chars(struct xc_typing_queue *q, const struct xc_hit *hit, uint64_t size)
{
	const struct xc_engine *e = q->engine;
	bool empty;
	uint64_t most = size < XC_WINDOW_COPY ? size : XC_WINDOW_COPY;
	const uint8_t *bytes = xc_window(&q->there, xc_block_addr(&e->heap->blocks, hit->block), most);
	if (bytes && xc_typing_is_text(bytes, most, &empty) && (!empty || size <= 32))
		return hit->items + XC_ITEM_STRING;
	return 0;
}

bool xc_typing_may_be_derived(const struct xc_engine *e, const struct xc_typemap *map, uint64_t size)
{
	for (uint32_t i = 0; i < map->derived_count; i++)
		if (xc_typing_fits(e, e->maps[map->derived[i]]->size, size))
			return true;
	return false;
}

/* A pointer to pointers, and a small block that may be one of them only: are they several, by the second one? */
static bool is_pointer_array(struct xc_typing_queue *q, const struct xc_hit *hit, const struct xc_typemap *map,
			     uint64_t size)
{
	const struct xc_engine *e = q->engine;
	const struct xc_blocks *blocks = &e->heap->blocks;
	const uint8_t *bytes = map->size == e->word && xc_type_is_pointer(map->bare) && size >= 2 * map->size
				       ? xc_window(&q->there, xc_block_addr(blocks, hit->block), 2 * map->size)
				       : NULL;
	uint64_t second = bytes ? xc_engine_load(e, bytes + map->size) : 0;
	uint32_t target = second >= blocks->lo && second <= blocks->hi ? xc_blocks_find(blocks, second) : XC_NO_BLOCK;
	return target != XC_NO_BLOCK && second == xc_block_addr(blocks, target) && is_used(blocks, target);
}

static uint32_t item_of_object(struct xc_typing_queue *q, const struct xc_hit *hit, const struct xc_typemap *map,
			       uint64_t size)
{
	const struct xc_engine *e = q->engine;
	if (size < map->size || map->is_part)
		return 0;
	if (map->is_header || xc_typing_may_be_derived(e, map, size))
		return 0;
	if (hit->slot->is_cast && map->is_record)
		return hit->items + XC_ITEM_ONE;
	bool several = !map->is_record && is_pointer_array(q, hit, map, size);
	if (!several &&
	    (map->is_opaque || xc_typing_may_fit(e, map->size, size) || (map->has_flexible && size >= map->size)))
		return hit->items + XC_ITEM_ONE;
	if (!map->is_record)
		return hit->items + XC_ITEM_ARRAY;
	return 0;
}

/* The item of the header that the pointer points past, if the block begins with it. */
static uint32_t item_of_header(struct xc_typing_queue *q, const struct xc_hit *hit, uint64_t size)
{
	const struct xc_engine *e = q->engine;
	const struct xc_header_set *headers = hit->slot->headers;
	uint64_t at = hit->offset + (uint64_t)(int64_t)headers->at;
	const uint8_t *byte =
		at < size ? xc_window(&q->there, xc_block_addr(&e->heap->blocks, hit->block) + at, 1) : NULL;
	for (uint32_t i = 0; byte && i < headers->count; i++) {
		uint64_t wanted = e->maps[headers->items[i].map]->size;
		if ((*byte & headers->items[i].mask) == headers->items[i].value &&
		    (headers->begins ? !hit->offset && xc_typing_fits(e, wanted, size) : wanted == hit->offset))
			return hit->slot->header_items[i];
	}
	return 0;
}

/* The item that the pointer proposes by itself; 0: none. */
static uint32_t item_of_pointer(struct xc_typing_queue *q, const struct xc_hit *hit)
{
	const struct xc_engine *e = q->engine;
	const struct xc_typemap_slot *slot = hit->slot;
	uint64_t size = xc_block_size(&e->heap->blocks, hit->block);
	if (!hit->items)
		return 0;
	if (slot->header_items)
		return item_of_header(q, hit, size);
	if (hit->offset == 0 && slot->kind == XC_SLOT_CHARS && !slot->ambiguous)
		return item_of_chars(q, hit, size);
	if (hit->offset == 0 && slot->kind == XC_SLOT_POINTER && !slot->ambiguous)
		return item_of_object(q, hit, e->maps[slot->target], size);
	return 0;
}

/* Are the targets raw bytes? True if the pointer's type permits nothing else, or if no other type was found and they
 * read as text. An uncertain pointer to char must lead to a text, too: other bytes show that its object is none. */
static bool may_be_bytes(struct xc_typing_queue *q, const struct xc_hit *hit)
{
	const struct xc_engine *e = q->engine;
	if (hit->slot->ambiguous)
		return false;
	if (hit->slot->kind == XC_SLOT_CHARS && (q->most > XC_TYPE_WEAK || hit->slot->target != e->bytes))
		return true;
	bool chars = hit->slot->kind == XC_SLOT_CHARS;
	return (chars || (hit->slot->kind == XC_SLOT_VOID && hit->items && e->last)) &&
	       xc_typing_is_all_text(e, &q->there, hit->block, hit->offset, chars ? 1 : SHORTEST_TEXT);
}

/* One of a union's pointers, to so few characters that they may be a number. */
static bool may_be_number(struct xc_typing_queue *q, const struct xc_hit *hit, uint32_t item)
{
	const struct xc_typed *typed = &q->engine->typing->items[item];
	return hit->slot->ambiguous && typed->shape == XC_TYPED_TEXT &&
	       !xc_typing_is_all_text(q->engine, &q->there, hit->block, typed->offset, SHORTEST_TEXT);
}

/* A proposal is no more certain than its source, whatever the block contains: a pointer of an object that may be none
 * says nothing surer. */
static uint32_t weakened(struct xc_typing_queue *q, const struct xc_hit *hit, uint32_t item)
{
	if (!item || (q->most > XC_TYPE_WEAK && !may_be_number(q, hit, item)))
		return item;
	return q->engine->facts[item].weak;
}

/* What was learned for the hit. Texts behind void * prove nothing about a block that may be a number. */
static uint32_t rule_of(struct xc_typing_queue *q, const struct xc_hit *hit)
{
	const struct xc_engine *e = q->engine;
	uint32_t item = xc_typing_rule(e, &q->there, hit);
	const struct xc_typed *typed = &e->typing->items[item];
	if (hit->slot->kind == XC_SLOT_VOID && typed->shape == XC_TYPED_TEXT &&
	    !xc_typing_is_all_text(e, &q->there, hit->block, typed->offset, SHORTEST_TEXT))
		return 0;
	return item;
}

/* May the block be guessed to be of the pointer's own type? Not if it is a header, by its tag, and
 * the block may be of one of several that begin with it. */
static bool may_be_target(const struct xc_engine *e, const struct xc_typemap *map, uint64_t size)
{
	if (size < map->size || map->is_part || map->is_header)
		return false;
	if (map->derived_count > 1 && map->tag.size && xc_typing_may_be_derived(e, map, size))
		return false;
	return !map->derived_count || xc_typing_may_fit(e, map->size, size);
}

static uint32_t item_of(struct xc_typing_queue *q, const struct xc_hit *hit)
{
	const struct xc_engine *e = q->engine;
	const struct xc_typemap_slot *slot = hit->slot;
	uint64_t size = xc_block_size(&e->heap->blocks, hit->block);
	uint32_t item = item_of_pointer(q, hit);
	if (!item && !slot->header_items)
		item = rule_of(q, hit);
	if (!hit->items) /* everything below needs items */
		return weakened(q, hit, item);
	if (!item && e->least <= XC_TYPE_WEAK && hit->offset == 0 && slot->kind == XC_SLOT_POINTER &&
	    !slot->header_items && !slot->ambiguous && may_be_target(e, e->maps[slot->target], size))
		item = hit->items + XC_ITEM_ONE_WEAK;
	if (!item && e->least <= XC_TYPE_WEAK && !slot->header_items && may_be_bytes(q, hit))
		item = hit->items + XC_ITEM_ARRAY_WEAK;
	return weakened(q, hit, item);
}

/* Does it propose the block's present type? */
static bool agrees(const struct xc_engine *e, const struct xc_hit *hit)
{
	uint32_t item = xc_code_item(__atomic_load_n(&e->typing->by_block[hit->block], __ATOMIC_RELAXED));
	const struct xc_typed *typed = &e->typing->items[item];
	uint32_t map = e->facts[item].map;
	return item && hit->offset == typed->offset &&
	       (hit->slot->target == map || hit->slot->target == e->maps[map]->base) &&
	       hit->slot->kind <= XC_SLOT_CHARS && typed->confidence > XC_TYPE_WEAK;
}

static void look_up(struct xc_typing_queue *q, struct xc_hit *hit)
{
	const struct xc_blocks *blocks = &q->engine->heap->blocks;
	hit->block = xc_blocks_find(blocks, hit->value);
	if (hit->block == XC_NO_BLOCK || !is_used(blocks, hit->block)) {
		hit->block = XC_NO_BLOCK;
		return;
	}
	hit->offset = hit->value - xc_block_addr(blocks, hit->block);
	__builtin_prefetch(&q->engine->typing->by_block[hit->block]);
	uint64_t at = hit->value - q->there.lo;
	if (q->there.bytes && at < q->there.len)
		__builtin_prefetch(q->there.bytes + at);
}

static void settle(struct xc_typing_queue *q, struct xc_hit *hit)
{
	if (agrees(q->engine, hit))
		return;
	hit->item = item_of(q, hit);
	if (hit->item)
		propose(q, hit->block, hit->item);
	else if (!hit->slot->header_items && !hit->slot->is_later_arm &&
		 !__atomic_load_n(&hit->slot->pending, __ATOMIC_RELAXED))
		__atomic_store_n(&hit->slot->pending, true, __ATOMIC_RELAXED);
}

static void show(struct xc_typing_queue *q, struct xc_hit *hit)
{
	hit->item = item_of_pointer(q, hit);
	q->seen(q->context, hit);
}

/* Records the pointer's proposal if it differs from the block's type; for disputed blocks in any case. */
static void check(struct xc_typing_queue *q, struct xc_hit *hit)
{
	struct xc_engine *e = q->engine;
	const struct xc_typemap_slot *slot = hit->slot;
	if (slot->kind != XC_SLOT_POINTER || slot->ambiguous || slot->headers || hit->offset ||
	    !e->maps[slot->target]->is_record)
		return;
	hit->item = item_of_pointer(q, hit);
	bool disputed = e->disputed && xc_graph_bit(e->disputed, hit->block);
	uint32_t item = xc_code_item(e->typing->by_block[hit->block]);
	if (!hit->item || !item || (!disputed && xc_typing_agree(e, slot->target, item)))
		return;
	q->claims = xc_grow(q->claims, q->claim_count, &q->claim_capacity, sizeof *q->claims);
	q->claims[q->claim_count++] =
		(struct xc_type_conflict){.block = hit->block, .item = hit->item, .map = slot->target};
}

void xc_typing_queue_flush(struct xc_typing_queue *q)
{
	for (unsigned i = 0; i < q->count; i++)
		look_up(q, &q->hits[i]);
	for (unsigned i = 0; i < q->count; i++) {
		struct xc_hit *hit = &q->hits[i];
		if (hit->block == XC_NO_BLOCK)
			continue;
		if (q->seen)
			show(q, hit);
		else if (q->engine->checking)
			check(q, hit);
		else
			settle(q, hit);
	}
	q->count = 0;
}

/* ---- for evidence ---- */

void xc_typing_propose(struct xc_visit *visit, xc_addr addr, uint32_t item)
{
	struct xc_typing_queue *q = visit->queue;
	struct xc_engine *e = q->engine;
	uint32_t block = xc_blocks_find(&e->heap->blocks, addr);
	if (q->seen || e->checking) /* only the objects examined matter */
		return;
	if (block == XC_NO_BLOCK || !item || item >= e->typing->item_count || !is_used(&e->heap->blocks, block))
		return;
	const struct xc_typed *typed = &e->typing->items[item];
	if (addr - xc_block_addr(&e->heap->blocks, block) != typed->offset ||
	    xc_block_size(&e->heap->blocks, block) - typed->offset < e->maps[e->facts[item].map]->size)
		return;
	propose(q, block, visit->most <= XC_TYPE_WEAK ? e->facts[item].weak : item);
}

void xc_typing_seed(struct xc_typing *typing, uint32_t block, uint32_t item)
{
	struct xc_engine *e = typing->state;
	if (block >= e->heap->blocks.count || !item || item >= typing->item_count || !is_used(&e->heap->blocks, block))
		return;
	const struct xc_typed *typed = &typing->items[item];
	uint64_t size = xc_block_size(&e->heap->blocks, block);
	e->facts[item].is_seed = true;
	if (typed->offset <= size && size - typed->offset >= e->maps[e->facts[item].map]->size)
		propose(xc_typing_queue_of(e, 0), block, item);
}
