/* typing_look: collects the pointers in an object, slot by slot, and in the objects inside it. */
#include "heap/types/typing_queue.h"

enum {
	STEPS = 256,       /* steps allowed for an object */
	STEPS_OF_BYTE = 16 /* and for each of its bytes */
};

static uint32_t root_items(struct xc_engine *e, const struct xc_root_object *root, const struct xc_typemap_slot *slot)
{
	void **known = xc_pointer_map_at(&e->root_items, &e->heap->memory, slot, root);
	if (*known)
		return (uint32_t)(uintptr_t)*known;
	const char *via = *slot->path ? xc_arena_printf(&e->heap->memory, "%s.%s", root->via, slot->path) : root->via;
	uint32_t first = 0;
	if (!xc_typing_has_room(e, XC_SLOT_ITEMS))
		return slot->items;
	for (uint32_t i = 0; i < XC_SLOT_ITEMS; i++) {
		struct xc_typed what = e->typing->items[slot->items + i];
		what.via = via;
		if (what.confidence == XC_TYPE_STRONG)
			what.confidence = root->confidence;
		uint32_t item = xc_typing_new_item(e, e->facts[slot->items + i].map, &what);
		first = first ? first : item;
	}
	e->facts[first + XC_ITEM_ONE].weak = first + XC_ITEM_ONE_WEAK;
	e->facts[first + XC_ITEM_ARRAY].weak = first + XC_ITEM_ARRAY_WEAK;
	e->facts[first + XC_ITEM_STRING].weak = first + XC_ITEM_STRING_WEAK;
	*xc_pointer_map_at(&e->root_items, &e->heap->memory, slot, root) = (void *)(uintptr_t)first;
	return first;
}

/* A pointer in an object of `from`, at the address `at`. */
static void add_hit(struct xc_typing_queue *q, struct xc_typemap_slot *slot, xc_addr at, xc_addr value, uint32_t from,
		    uint64_t tag)
{
	if (q->count == XC_TYPING_BATCH)
		xc_typing_queue_flush(q);
	q->hits[q->count++] = (struct xc_hit){
		.slot = slot,
		.value = value,
		.from = from,
		.at = at,
		.tag = tag,
		.items = q->root && slot->items && !q->seen ? root_items(q->engine, q->root, slot) : slot->items};
}

/* Hostile debug information can describe any amount of work within a few bytes: overlapping members, in arrays of
 * such members, and so on. Real types have at most a slot for each byte, and a handful of arms. */
static void allow_steps(struct xc_typing_queue *q, uint64_t size)
{
	q->steps = STEPS + (size < UINT32_MAX ? size : UINT32_MAX) * STEPS_OF_BYTE;
}

static bool take_step(struct xc_typing_queue *q)
{
	if (q->steps == 0) {
		__atomic_store_n(&q->engine->cut, true, __ATOMIC_RELAXED);
		return false;
	}
	q->steps--;
	return true;
}

/* An object of `whole` bytes, including a flexible last member. */
struct sight {
	const struct xc_typemap *map;
	xc_addr addr;
	const uint8_t *bytes;
	uint64_t whole;
	uint32_t block;
	unsigned nest;
};

static void look(struct xc_typing_queue *q, const struct sight *object);

/* The value beside the pointer that selects its meaning. A struct in a union may not be there: its tag may be part of
 * something else. */
static uint64_t tag_beside(const struct sight *object, const struct xc_typemap_slot *slot)
{
	uint64_t tag = xc_tag_within(&slot->tag, object->whole) ? xc_tag_of(&slot->tag, object->bytes) : 0;
	if (tag && slot->in_union && slot->tag.values &&
	    xc_typing_is_no_enumerator(slot->tag.values, (const uint8_t *)&tag, slot->tag.size))
		return XC_TAG_OF_OTHERS;
	return tag;
}

static void look_at_pointers(struct xc_typing_queue *q, const struct sight *object, struct xc_typemap_slot *slot,
			     uint64_t count)
{
	const struct xc_blocks *blocks = &q->engine->heap->blocks;
	const uint8_t *bytes = object->bytes + slot->offset;
	uint64_t tag = tag_beside(object, slot);
	xc_addr addr = object->addr ? object->addr + slot->offset : 0;
	slot = xc_cast_of(slot, object->bytes, object->whole);
	if (slot->kind > XC_SLOT_VOID)
		return;
	for (uint64_t i = 0; i < count && take_step(q); i++) {
		uint64_t value = xc_engine_load(q->engine, bytes + i * slot->stride);
		if (value >= blocks->lo && value <= blocks->hi)
			add_hit(q, slot, addr ? addr + i * slot->stride : 0, value, object->block, tag);
	}
}

static void look_at_objects(struct xc_typing_queue *q, const struct sight *object, const struct xc_typemap_slot *slot,
			    uint64_t count)
{
	const struct xc_typemap *map = q->engine->maps[slot->target];
	if (!map->has_pointers || object->nest >= XC_TYPING_NEST)
		return;
	struct sight inner = {.map = map, .block = object->block, .whole = slot->stride, .nest = object->nest + 1};
	for (uint64_t i = 0; i < count && take_step(q); i++) {
		inner.bytes = object->bytes + slot->offset + i * slot->stride;
		inner.addr = object->addr ? object->addr + slot->offset + i * slot->stride : 0;
		look(q, &inner);
	}
}

static void ask_evidence(struct xc_typing_queue *q, const struct sight *object, const struct xc_typemap_slot *slot)
{
	struct xc_visit visit = {.typing = q->engine->typing,
				 .addr = object->addr ? object->addr + slot->offset : 0,
				 .bytes = object->bytes + slot->offset,
				 .size = slot->stride,
				 .block = object->block,
				 .most = q->most,
				 .queue = q};
	visit.window = q->there;
	slot->evidence->visit(&visit, slot->met);
	q->there = visit.window;
}

static void look(struct xc_typing_queue *q, const struct sight *object)
{
	const struct xc_typemap *map = object->map;
	for (uint32_t i = 0; i < map->slot_count && take_step(q); i++) {
		struct xc_typemap_slot *slot = &map->slots[i];
		if (slot->offset >= object->whole || slot->stride == 0)
			continue;
		uint64_t fit = (object->whole - slot->offset) / slot->stride;
		uint64_t count = slot->count && slot->count < fit ? slot->count : fit;
		if (slot->kind <= XC_SLOT_VOID)
			look_at_pointers(q, object, slot, count);
		else if (slot->kind == XC_SLOT_OBJECTS)
			look_at_objects(q, object, slot, count);
		else if (slot->kind == XC_SLOT_EVIDENCE && fit)
			ask_evidence(q, object, slot);
	}
}

/* Behind the elements of an array is what was there before. */
static void limit_to_used(const struct xc_engine *e, uint32_t block, uint64_t step, uint64_t *at, uint64_t *size)
{
	const struct xc_used_part *part = &e->used[block];
	if (!part->behind || part->from % step)
		return;
	*at = part->from;
	*size = part->behind - 1 < *size ? part->behind - 1 : *size;
}

/* Examines all objects of a block. */
void xc_typing_look_at_block(struct xc_typing_queue *q, uint32_t block, uint32_t item)
{
	struct xc_engine *e = q->engine;
	const struct xc_typed *typed = &e->typing->items[item];
	struct sight object = {.map = e->maps[e->facts[item].map], .block = block};
	uint64_t size = xc_block_size(&e->heap->blocks, block), at = typed->offset, step = object.map->size, len;
	xc_addr addr = xc_block_addr(&e->heap->blocks, block);
	bool array = typed->shape == XC_TYPED_ARRAY;
	if (typed->shape == XC_TYPED_TEXT || !object.map->has_pointers || step == 0)
		return;
	if (array && at == 0)
		limit_to_used(e, block, step, &at, &size);
	if (at >= size)
		return;
	q->most = typed->confidence;
	allow_steps(q, size);
	do {
		object.whole = array || typed->shape == XC_TYPED_EMBEDDED ? step : size - at;
		object.addr = addr + at;
		object.bytes = xc_window(&q->own, object.addr, object.whole);
		if (!object.bytes && object.whole > XC_WINDOW_COPY) {
			object.bytes = xc_window_run(&q->own, object.addr, XC_WINDOW_COPY, &len);
			object.whole = object.bytes ? len : 0;
		}
		if (object.bytes)
			look(q, &object);
		at += step;
	} while (array && at <= size && size - at >= step);
}

void xc_typing_look_at_root(struct xc_typing_queue *q, const struct xc_root_object *root)
{
	struct xc_engine *e = q->engine;
	struct sight object = {.map = e->maps[root->map], .block = XC_NO_BLOCK};
	uint64_t at = 0, step = object.map->size;
	q->most = root->confidence;
	q->root = root;
	allow_steps(q, root->size);
	for (; step && at <= root->size && root->size - at >= step; at += step) {
		object.whole = step;
		object.addr = root->bytes ? 0 : root->addr + at;
		object.bytes = root->bytes ? root->bytes + at : xc_window(&q->own, object.addr, step);
		if (object.bytes)
			look(q, &object);
	}
	xc_typing_queue_flush(q);
	q->root = NULL;
}

/* ---- for evidence ---- */

void xc_typing_uses(struct xc_visit *visit, uint32_t block, uint64_t from, uint64_t to)
{
	struct xc_typing_queue *q = visit->queue;
	if (q->seen || q->engine->checking || visit->most <= XC_TYPE_WEAK || from > to || to >= UINT32_MAX)
		return;
	q->used = xc_grow(q->used, q->used_count, &q->used_capacity, sizeof *q->used);
	q->used[q->used_count++] =
		(struct xc_typing_used){.block = block, .part = {.from = (uint32_t)from, .behind = (uint32_t)to + 1}};
}

void xc_typing_look(struct xc_visit *visit, uint64_t offset, uint32_t object)
{
	struct xc_typing_queue *q = visit->queue;
	const struct xc_typemap *map = object < q->engine->map_count ? q->engine->maps[object] : NULL;
	if (!map || q->nest >= XC_TYPING_NEST || offset > visit->size || visit->size - offset < map->size)
		return;
	struct sight inner = {.map = map,
			      .addr = visit->addr ? visit->addr + offset : 0,
			      .bytes = visit->bytes + offset,
			      .whole = map->size,
			      .block = visit->block};
	q->there = visit->window; /* the visitor used it meanwhile */
	q->nest++;
	look(q, &inner);
	q->nest--;
	visit->window = q->there;
}
