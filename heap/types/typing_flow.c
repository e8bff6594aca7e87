/* typing_flow: types flow along pointers.
 *
 * Blocks are visited level by level: all blocks of a level with the codes that they had when it began, so that the answer does not
 * depend on who is faster. A visit collects the pointers of a block; a batch of them is looked up together, each step asking for
 * the memory that the next one needs. A proposal that is better than what a block has, and that its memory does not speak
 * against, takes its place, and the block is of the next level.
 * What a pointer does not say at once (a block larger than the type, an address inside of a block, void *) is left to rules. */
#include "heap/types/typing_engine.h"

#include <stdlib.h>
#include <string.h>

enum {
	BATCH = 64,        /* hits that are looked up together */
	AHEAD = 12,        /* blocks whose memory is asked for in time */
	PIECE = 4096,      /* blocks of a piece of parallel work */
	ALONE = 3 * PIECE, /* as many are not worth threads */
	STEPS = 256,       /* that looking at an object may take, */
	STEPS_OF_BYTE = 16 /* and for each of its bytes */
};

/* What one thread works with. */
struct xc_typing_queue {
	struct xc_engine *engine;
	struct xc_window own, there; /* the object's own memory; what is pointed to */
	struct xc_hit hits[BATCH];
	unsigned count;
	uint8_t most;    /* enum xc_confidence: what is proposed here is no surer than its source */
	unsigned nest;   /* of objects that evidence has us look at */
	uint64_t steps;  /* that are left for what is being looked at */
	xc_hit_fn *seen; /* hits are shown, nothing is proposed */
	void *context;
	struct xc_claim *claims; /* of a check */
	size_t claim_count, claim_capacity;
	const struct xc_root_object *root; /* being visited, or NULL */
};

/* ---- proposing ---- */

static void enqueue(struct xc_engine *e, uint32_t block)
{
	uint64_t bit = (uint64_t)1 << (block & 63);
	if (__atomic_fetch_or(&e->queued[block >> 6], bit, __ATOMIC_RELAXED) & bit)
		return;
	e->queue[1][__atomic_fetch_add(&e->queue_count[1], 1, __ATOMIC_RELAXED)] = block;
}

static bool worth_a_visit(const struct xc_typemap *map)
{
	return map->has_pointers || !map->compiled;
}

static void propose(struct xc_typing_queue *q, uint32_t block, uint32_t item)
{
	struct xc_engine *e = q->engine;
	uint32_t *place = &e->typing->by_block[block], code = xc_code(e, item);
	uint32_t old = __atomic_load_n(place, __ATOMIC_RELAXED);
	if (code <= old || e->typing->items[item].confidence < e->least || !xc_typing_judge(e, &q->there, block, item))
		return;
	while (code > old && !__atomic_compare_exchange_n(place, &old, code, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (code > old && worth_a_visit(e->maps[e->facts[item].map]))
		enqueue(e, block);
}

/* ---- what a pointer says ---- */

static bool is_used(const struct xc_blocks *blocks, uint32_t block)
{
	return !xc_block_is_free(xc_block_state(blocks, block));
}

static uint32_t say_chars(struct xc_typing_queue *q, const struct xc_hit *hit, uint64_t size)
{
	const struct xc_engine *e = q->engine;
	bool empty;
	uint64_t most = size < XC_WINDOW_COPY ? size : XC_WINDOW_COPY;
	const uint8_t *bytes = xc_window(&q->there, xc_block_addr(&e->heap->blocks, hit->block), most);
	if (bytes && xc_typing_is_text(bytes, most, &empty) && (!empty || size <= 32))
		return hit->items + XC_ITEM_STRING;
	return 0;
}

/* The block may be of a larger type that begins like this one. */
static bool may_be_derived(const struct xc_engine *e, const struct xc_typemap *map, uint64_t size)
{
	for (uint32_t i = 0; i < map->derived_count; i++)
		if (xc_typing_fits(e, e->maps[map->derived[i]]->size, size))
			return true;
	return false;
}

static uint32_t say_object(struct xc_typing_queue *q, const struct xc_hit *hit, const struct xc_typemap *map,
			   uint64_t size)
{
	const struct xc_engine *e = q->engine;
	if (size < map->size || map->is_part)
		return 0;
	if (may_be_derived(e, map, size))
		return 0;
	if (hit->slot->is_cast && map->is_record)
		return hit->items + XC_ITEM_ONE;
	if (map->is_opaque || xc_typing_may_fit(e, map->size, size) || (map->has_flexible && size >= map->size))
		return hit->items + XC_ITEM_ONE;
	if (!map->is_record)
		return hit->items + XC_ITEM_ARRAY;
	return 0;
}

/* The header that the pointer points behind, where the block begins with it. */
static uint32_t say_header(struct xc_typing_queue *q, const struct xc_hit *hit, uint64_t size)
{
	const struct xc_engine *e = q->engine;
	const struct xc_header_set *headers = hit->slot->headers;
	uint64_t at = hit->offset + (uint64_t)(int64_t)headers->at;
	const uint8_t *byte =
		at < size ? xc_window(&q->there, xc_block_addr(&e->heap->blocks, hit->block) + at, 1) : NULL;
	for (uint32_t i = 0; byte && i < headers->count; i++)
		if ((*byte & headers->items[i].mask) == headers->items[i].value &&
		    e->maps[headers->items[i].map]->size == hit->offset)
			return hit->slot->header_items[i];
	return 0;
}

/* The item that the pointer itself gives the block; 0: none. */
static uint32_t say_alone(struct xc_typing_queue *q, const struct xc_hit *hit)
{
	const struct xc_engine *e = q->engine;
	const struct xc_slot *slot = hit->slot;
	uint64_t size = xc_block_size(&e->heap->blocks, hit->block);
	if (!hit->items)
		return 0;
	if (slot->header_items)
		return say_header(q, hit, size);
	if (hit->offset == 0 && slot->kind == XC_SLOT_CHARS)
		return say_chars(q, hit, size);
	if (hit->offset == 0 && slot->kind == XC_SLOT_POINTER && !slot->ambiguous)
		return say_object(q, hit, e->maps[slot->target], size);
	return 0;
}

/* Bytes: behind a pointer to some that can be nothing else, or where nothing else was found and no pointer lies. */
static bool says_bytes(struct xc_typing_queue *q, const struct xc_hit *hit)
{
	const struct xc_engine *e = q->engine;
	if (hit->slot->kind == XC_SLOT_CHARS)
		return !hit->slot->ambiguous || e->last;
	return hit->slot->kind == XC_SLOT_VOID && hit->items && e->last && xc_typing_is_raw(e, &q->there, hit->block);
}

static uint32_t say(struct xc_typing_queue *q, const struct xc_hit *hit)
{
	const struct xc_engine *e = q->engine;
	const struct xc_slot *slot = hit->slot;
	uint64_t size = xc_block_size(&e->heap->blocks, hit->block);
	uint32_t item = say_alone(q, hit);
	if (!item && !slot->header_items)
		item = xc_typing_rule(e, &q->there, hit);
	if (!hit->items) /* all that is behind needs some */
		return item && q->most <= XC_TYPE_WEAK ? e->facts[item].weak : item;
	if (!item && e->least <= XC_TYPE_WEAK && hit->offset == 0 && slot->kind == XC_SLOT_POINTER &&
	    !slot->ambiguous && size >= e->maps[slot->target]->size && !e->maps[slot->target]->is_part)
		item = hit->items + XC_ITEM_ONE_WEAK;
	if (!item && e->least <= XC_TYPE_WEAK && !slot->header_items && says_bytes(q, hit))
		item = hit->items + XC_ITEM_ARRAY_WEAK;
	return item && q->most <= XC_TYPE_WEAK ? e->facts[item].weak : item;
}

/* It says what the block is taken for already. */
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
	hit->item = say(q, hit);
	if (hit->item)
		propose(q, hit->block, hit->item);
	else if (!hit->slot->header_items && !__atomic_load_n(&hit->slot->pending, __ATOMIC_RELAXED))
		__atomic_store_n(&hit->slot->pending, true, __ATOMIC_RELAXED);
}

static void show(struct xc_typing_queue *q, struct xc_hit *hit)
{
	hit->item = say_alone(q, hit);
	q->seen(q->context, hit);
}

/* What the pointer says, where that is another type than the block has; of blocks in dispute whatever it says. */
static void check(struct xc_typing_queue *q, struct xc_hit *hit)
{
	struct xc_engine *e = q->engine;
	const struct xc_slot *slot = hit->slot;
	if (slot->kind != XC_SLOT_POINTER || slot->ambiguous || hit->offset || !e->maps[slot->target]->is_record)
		return;
	hit->item = say_alone(q, hit);
	bool disputed = e->disputed && xc_graph_bit(e->disputed, hit->block);
	uint32_t item = xc_code_item(e->typing->by_block[hit->block]);
	if (!hit->item || !item || (!disputed && xc_typing_agree(e, slot->target, item)))
		return;
	q->claims = xc_grow(q->claims, q->claim_count, &q->claim_capacity, sizeof *q->claims);
	q->claims[q->claim_count++] = (struct xc_claim){.block = hit->block, .item = hit->item, .map = slot->target};
}

static void flush(struct xc_typing_queue *q)
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

/* ---- looking at objects ---- */

static uint32_t root_items(struct xc_engine *e, const struct xc_root_object *root, const struct xc_slot *slot)
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
	*xc_pointer_map_at(&e->root_items, &e->heap->memory, slot, root) = (void *)(uintptr_t)first;
	return first;
}

static void add_hit(struct xc_typing_queue *q, struct xc_slot *slot, xc_addr value, uint32_t from, uint64_t tag)
{
	if (q->count == BATCH)
		flush(q);
	q->hits[q->count++] = (struct xc_hit){
		.slot = slot,
		.value = value,
		.from = from,
		.tag = tag,
		.items = q->root && slot->items && !q->seen ? root_items(q->engine, q->root, slot) : slot->items};
}

/* Members that overlap, in arrays of such members, and so on: there is no end to what hostile debug information can have us look at
 * within a few bytes. Honest types have a slot for each byte at most, and a handful of arms. */
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

/* An object, and what it may go on to: `whole` bytes of which `size` are its own. */
struct sight {
	const struct xc_typemap *map;
	xc_addr addr;
	const uint8_t *bytes;
	uint64_t whole;
	uint32_t block;
	unsigned nest;
};

static void look(struct xc_typing_queue *q, const struct sight *object);

static void look_at_pointers(struct xc_typing_queue *q, const struct sight *object, struct xc_slot *slot,
			     uint64_t count)
{
	const struct xc_blocks *blocks = &q->engine->heap->blocks;
	const uint8_t *bytes = object->bytes + slot->offset;
	uint64_t tag = xc_tag_within(&slot->tag, object->whole) ? xc_tag_of(&slot->tag, object->bytes) : 0;
	slot = xc_cast_of(slot, object->bytes, object->whole);
	if (slot->kind > XC_SLOT_VOID)
		return;
	for (uint64_t i = 0; i < count && take_step(q); i++) {
		uint64_t value = xc_engine_load(q->engine, bytes + i * slot->stride);
		if (value >= blocks->lo && value <= blocks->hi)
			add_hit(q, slot, value, object->block, tag);
	}
}

static void look_at_objects(struct xc_typing_queue *q, const struct sight *object, const struct xc_slot *slot,
			    uint64_t count)
{
	const struct xc_typemap *map = q->engine->maps[slot->target];
	if (!map->has_pointers || object->nest >= XC_TYPING_NEST)
		return;
	struct sight inner = {.map = map, .block = object->block, .whole = slot->stride, .nest = object->nest + 1};
	for (uint64_t i = 0; i < count && take_step(q); i++) {
		inner.bytes = object->bytes + slot->offset + i * slot->stride;
		inner.addr = object->addr + slot->offset + i * slot->stride;
		look(q, &inner);
	}
}

static void ask_evidence(struct xc_typing_queue *q, const struct sight *object, const struct xc_slot *slot)
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
		struct xc_slot *slot = &map->slots[i];
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

/* All objects of a block. */
static void look_at_block(struct xc_typing_queue *q, uint32_t block, uint32_t item)
{
	struct xc_engine *e = q->engine;
	const struct xc_typed *typed = &e->typing->items[item];
	struct sight object = {.map = e->maps[e->facts[item].map], .block = block};
	uint64_t size = xc_block_size(&e->heap->blocks, block), at = typed->offset, step = object.map->size, len;
	xc_addr addr = xc_block_addr(&e->heap->blocks, block);
	if (typed->shape == XC_TYPED_TEXT || !object.map->has_pointers || step == 0 || at >= size)
		return;
	bool array = typed->shape == XC_TYPED_ARRAY;
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

static void look_at_root(struct xc_typing_queue *q, const struct xc_root_object *root)
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
	flush(q);
	q->root = NULL;
}

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

static struct xc_typing_queue *worker_of(struct xc_engine *e, unsigned worker)
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
	struct xc_typing_queue *q = worker_of(e, worker);
	size_t end = (piece + 1) * PIECE < e->queue_count[0] ? (piece + 1) * PIECE : e->queue_count[0];
	for (size_t i = piece * PIECE; i < end; i++) {
		request(q, i);
		uint8_t before = q->most;
		uint32_t item = xc_code_item(e->frozen[i]);
		if (q->count && e->typing->items[item].confidence != before)
			flush(q);
		look_at_block(q, e->queue[0][i], item);
	}
	flush(q);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* Types that are met for the first time, in an order that does not depend on that of the queue. */
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
	for (size_t i = 0; i < count; i++)
		xc_typemap_compile(e, found[i]);
	free(found);
}

/* Visit what is in queue[0]. */
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
	struct xc_typing_queue *q = worker_of(e, 0);
	for (size_t i = 0; i < e->root_count; i++) {
		xc_typemap_compile(e, e->roots[i].map);
		look_at_root(q, &e->roots[i]);
	}
}

/* Itself, or by an object inside that is known to? */
static bool slot_waits(const struct xc_slot *slot, bool taught_only)
{
	return taught_only ? slot->taught : slot->pending;
}

static bool waits(const struct xc_typemap *map, const bool *waiting, bool taught_only)
{
	for (uint32_t i = 0; i < map->slot_count; i++) {
		const struct xc_slot *slot = &map->slots[i];
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

/* By map: has it pointers that said nothing yet? Round by round outwards, as deep as objects nest: a search in depth would look at a type as
 * often as there are ways to it. */
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
			struct xc_slot *slot = &e->maps[i]->slots[k];
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

struct xc_claim *xc_typing_check(struct xc_engine *e, size_t *count_out)
{
	size_t count = e->heap->blocks.count;
	struct xc_claim *claims = NULL;
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
	struct xc_typing_queue *q = worker_of(e, 0);
	q->seen = seen;
	q->context = context;
	look_at_block(q, block, e->typing->by_block[block]);
	flush(q);
	q->seen = NULL;
}

void xc_typing_roots_hits(struct xc_engine *e, xc_hit_fn *seen, void *context)
{
	struct xc_typing_queue *q = worker_of(e, 0);
	q->seen = seen;
	q->context = context;
	for (size_t i = 0; i < e->root_count; i++)
		look_at_root(q, &e->roots[i]);
	q->seen = NULL;
}

void xc_typing_each_hit(struct xc_engine *e, bool pending_only, xc_hit_fn *seen, void *context)
{
	struct xc_typing_queue *q = worker_of(e, 0);
	xc_auto(xc_freep) bool *waiting = waiting_maps(e, false);
	xc_typing_roots_hits(e, seen, context);
	q->seen = seen;
	q->context = context;
	for (size_t block = 0; block < e->heap->blocks.count; block++) {
		uint32_t code = e->typing->by_block[block], item = e->decoded ? code : xc_code_item(code);
		if (item && (!pending_only || waiting[e->facts[item].map]))
			look_at_block(q, (uint32_t)block, item);
	}
	flush(q);
	q->seen = NULL;
}

/* ---- for evidence ---- */

void xc_typing_propose(struct xc_visit *visit, xc_addr addr, uint32_t item)
{
	struct xc_typing_queue *q = visit->queue;
	struct xc_engine *e = q->engine;
	uint32_t block = xc_blocks_find(&e->heap->blocks, addr);
	if (q->seen || e->checking) /* only what is looked at matters */
		return;
	if (block == XC_NO_BLOCK || !item || item >= e->typing->item_count || !is_used(&e->heap->blocks, block))
		return;
	const struct xc_typed *typed = &e->typing->items[item];
	if (addr - xc_block_addr(&e->heap->blocks, block) != typed->offset ||
	    xc_block_size(&e->heap->blocks, block) - typed->offset < e->maps[e->facts[item].map]->size)
		return;
	propose(q, block, visit->most <= XC_TYPE_WEAK ? e->facts[item].weak : item);
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
	q->there = visit->window; /* the visitor has had it meanwhile */
	q->nest++;
	look(q, &inner);
	q->nest--;
	visit->window = q->there;
}

void xc_typing_seed(struct xc_typing *typing, uint32_t block, uint32_t item)
{
	struct xc_engine *e = typing->state;
	if (block >= e->heap->blocks.count || !item || item >= typing->item_count || !is_used(&e->heap->blocks, block))
		return;
	const struct xc_typed *typed = &typing->items[item];
	uint64_t size = xc_block_size(&e->heap->blocks, block);
	if (typed->offset <= size && size - typed->offset >= e->maps[e->facts[item].map]->size)
		propose(worker_of(e, 0), block, item);
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
		free(e->workers[i]);
		e->workers[i] = NULL;
	}
}
