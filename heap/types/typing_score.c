/* typing_score: does memory look like an object of a type?
 *
 * Pointers must be NULL or lead to memory, aligned like their target type, functions among instructions and objects
 * not; a bool is 0 or 1; an enum is one of its values; a double is no small integer. Memory that was never written may
 * hold anything, and programs keep flags in pointers. So good and bad signs are counted, and an object with more bad
 * than good ones is rejected. */
#include "heap/types/typing_map.h"

#include <string.h>

enum {
	ELEMENTS_AHEAD = 4,
	ELEMENTS = 12,
	POINTERS = 64,
	LONGEST = 1 << 16,
	GOOD_HEAP = 3,
	TEXT_SHOWN = 64,
	SLOTS = 256,       /* steps allowed for an object, */
	SLOTS_MOST = 8192, /* plus at most one for each byte, up to this */
};

/* Compares with the target block's present type: the pointer's type, a type that begins with it, or another one. */
static void score_known(const struct xc_engine *e, const struct xc_typemap_slot *slot, uint32_t item,
			struct xc_score *score)
{
	const struct xc_typemap *target = e->maps[slot->target];
	uint32_t known = e->maps[e->facts[item].map]->base;
	bool good = known == target->base || slot->headers;
	for (uint32_t i = 0; i < target->derived_count && !good; i++)
		good = target->derived[i] == known;
	if (good) {
		score->good += GOOD_HEAP;
		score->sure++;
	} else if (e->typing->items[item].confidence > XC_TYPE_WEAK) {
		score->bad += 2;
	}
}

/* What a type's members are compared with only to choose between candidates; types that flow are not examined so
 * closely. */
static bool is_close(const struct xc_score *score)
{
	return score->deep || score->texts;
}

/* A pointer to characters: char * leads to text, other bytes may be anything. An empty text is no evidence. */
static void score_characters(const struct xc_engine *e, const struct xc_typemap_slot *slot, uint32_t block,
			     uint64_t offset, struct xc_score *score)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	uint64_t size = xc_block_size(blocks, block) - offset, shown = size < TEXT_SHOWN ? size : TEXT_SHOWN;
	bool empty = false, text = offset == 0;
	const uint8_t *bytes =
		is_close(score) ? xc_space_view(e->heap->process->space, xc_block_addr(blocks, block) + offset, shown)
				: NULL;
	if (is_close(score))
		text = bytes && (xc_typing_is_text(bytes, shown, &empty) ||
				 xc_text_ascii_run((const char *)bytes, shown) == shown);
	if (text && !empty) {
		score->good += slot->target == e->bytes ? GOOD_HEAP : GOOD_HEAP - 1;
		score->sure += offset == 0;
	} else if (bytes && !text && score->deep && slot->target == e->bytes && offset == 0) {
		score->bad++;
	} else {
		score->good++;
	}
}

static void score_object(const struct xc_engine *e, const struct xc_typemap *map, const uint8_t *bytes, uint64_t size,
			 struct xc_score *score, unsigned nest);

/* One step ahead: the target has no type yet. Does it look like an object of the pointer's type? */
static void score_ahead(const struct xc_engine *e, const struct xc_typemap_slot *slot, uint32_t block,
			struct xc_score *score)
{
	const struct xc_typemap *target = e->maps[slot->target];
	xc_addr addr = xc_block_addr(&e->heap->blocks, block);
	const uint8_t *bytes = target->compiled && target->is_record && target->size
				       ? xc_space_view(e->heap->process->space, addr, target->size)
				       : NULL;
	struct xc_score ahead = {.texts = true,
				 .self = slot->target,
				 .bytes = bytes,
				 .addr = addr,
				 .looked = score->looked,
				 .most = score->most};
	if (!bytes)
		return;
	score_object(e, target, bytes, target->size, &ahead, 0);
	score->looked = ahead.looked;
	score->bad += ahead.bad > ahead.good ? 2 : 0;
}

/* Scores a pointer into a block: can the target be of the pointer's type? */
static void score_pointee(const struct xc_engine *e, const struct xc_typemap_slot *slot, uint32_t block,
			  uint64_t offset, struct xc_score *score)
{
	const struct xc_typemap *target = slot->target ? e->maps[slot->target] : NULL;
	uint64_t size = xc_block_size(&e->heap->blocks, block);
	bool small = target && target->size > size - offset;
	uint32_t item = score->deep ? xc_code_item(e->typing->by_block[block]) : 0;
	if (slot->kind == XC_SLOT_CODE || small) {
		score->bad += 2;
	} else if (slot->kind == XC_SLOT_POINTER && target->is_record && offset == 0) {
		bool fits = xc_typing_fits(e, target->size, size);
		score->good += fits ? GOOD_HEAP : 2;
		score->sure += fits && slot->target == score->self && !xc_typing_may_be_derived(e, target, size);
	} else if (slot->kind == XC_SLOT_VOID || slot->kind == XC_SLOT_POINTER) {
		score->good++;
	} else {
		score_characters(e, slot, block, offset, score);
	}
	if (item && slot->kind == XC_SLOT_POINTER && offset == e->typing->items[item].offset)
		score_known(e, slot, item, score);
	else if (!item && score->deep && slot->kind == XC_SLOT_POINTER && offset == 0 && !small)
		score_ahead(e, slot, block, score);
}

enum place { NOWHERE, DATA, CODE, EITHER };

/* What lies at an address outside of the heap? Programs that are linked in the older way have constants and code in
 * one mapping, which begins with the file; code that was made at run time may have objects beside it. */
static enum place place_of(const struct xc_engine *e, uint64_t value)
{
	const struct xc_process *process = e->heap->process;
	if (value < 4096 || !xc_space_find(process->space, value))
		return NOWHERE;
	const struct xc_mapping *mapping = xc_process_mapping(process, value);
	if (!mapping || (mapping->executable && (mapping->writable || !mapping->path || !mapping->offset)))
		return EITHER;
	return mapping->executable ? CODE : DATA;
}

/* No object of the program lies among its instructions, and no function outside of them. */
static void score_outside(const struct xc_engine *e, const struct xc_typemap_slot *slot, uint64_t value,
			  struct xc_score *score)
{
	bool function = slot->kind == XC_SLOT_CODE;
	enum place place = place_of(e, value);
	if (place == NOWHERE) {
		score->bad += 2;
	} else if (slot->kind != XC_SLOT_VOID && place == (function ? DATA : CODE)) {
		score->bad += is_close(score) ? 2 : 0;
	} else {
		score->good += 2;
		score->sure += function && place == CODE;
	}
}

/* Scores the target of a slot's pointer. */
static void score_pointer(const struct xc_engine *e, const struct xc_typemap_slot *slot, uint64_t value,
			  struct xc_score *score)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	const struct xc_typemap *target = slot->target ? e->maps[slot->target] : NULL;
	if (value == 0)
		return;
	if (target && target->is_record && target->size >= 8 && target->size % 8 == 0 && value & 3) {
		score->bad += 2;
		return;
	}
	if (value >= blocks->lo && value <= blocks->hi) {
		uint32_t block = xc_blocks_find(blocks, value);
		if (block == XC_NO_BLOCK)
			score->bad += xc_space_find(e->heap->process->space, value) ? 1 : 2;
		else
			score_pointee(e, slot, block, value - xc_block_addr(blocks, block), score);
		return;
	}
	score_outside(e, slot, value, score);
}

/* The next node of a list points back to this one; so does the one before, unless it is the last of a list whose first
 * node points to it. */
static void score_back_link(const struct xc_engine *e, const struct xc_typemap_slot *slot, const uint8_t *bytes,
			    struct xc_score *score)
{
	uint8_t back[sizeof(uint64_t)] = {0};
	uint64_t value = xc_engine_load(e, bytes);
	if (!score->addr || !value || slot->in_union ||
	    xc_space_peek(e->heap->process->space, value + slot->back_at, back, e->word) != e->word)
		return;
	uint64_t node = score->addr + (uint64_t)(bytes - score->bytes) - slot->back_to, to = xc_engine_load(e, back);
	score->good += to == node;
	score->sure += to == node;
	score->bad += to != node && (to || slot->back_at > slot->back_to);
}

/* An array of char mostly holds text; an array of bytes hardly ever does. */
static void score_text(const uint8_t *bytes, uint64_t size, struct xc_score *score)
{
	bool empty;
	if (!xc_typing_is_text(bytes, size, &empty) && xc_text_ascii_run((const char *)bytes, size) < size) {
		score->bad++;
	} else if (bytes[1]) {
		score->good++;
		score->sure++;
	}
}

static uint64_t number_at(const uint8_t *bytes, uint32_t size)
{
	uint64_t number = 0;
	memcpy(&number, bytes, size < sizeof number ? size : sizeof number);
	return number;
}

static bool is_enumerator(const struct xc_type *type, uint64_t number, uint32_t size)
{
	size_t count;
	const struct xc_enumerator *items = xc_type_enumerators(type, &count);
	uint64_t mask = size >= 8 ? UINT64_MAX : ((uint64_t)1 << size * 8) - 1, all = 0;
	for (size_t i = 0; i < count; i++) {
		if (((items[i].value ^ number) & mask) == 0)
			return true;
		all |= items[i].value;
	}
	return type->is_flags && (number & mask & ~all) == 0;
}

bool xc_typing_is_no_enumerator(const struct xc_type *type, const uint8_t *bytes, uint32_t size)
{
	uint64_t number = number_at(bytes, size);
	return number && !is_enumerator(type, number, size);
}

/* The bits of a double of everyday size are hardly ever anything else; those of a small integer or an address are no
 * double. */
static void score_double(uint64_t bits, struct xc_score *score)
{
	enum { BIAS = 1023, EVERYDAY = 40 };
	unsigned exponent = (unsigned)(bits >> 52) & 0x7ff;
	if (exponent > BIAS - EVERYDAY && exponent < BIAS + EVERYDAY) {
		score->good++;
		score->sure++;
	} else if (bits && exponent == 0) {
		score->bad++;
	}
}

static void score_slot(const struct xc_engine *e, const struct xc_typemap_slot *slot, const uint8_t *bytes,
		       uint64_t size, struct xc_score *score, unsigned nest);

/* The best of a union's pointers at one place, of which slot `first` is the first: any of them may be meant, or none.
 * So what speaks for it is no evidence for the object's type; but it is reason to doubt another one. */
static void score_union(const struct xc_engine *e, const struct xc_typemap *map, uint32_t first, const uint8_t *bytes,
			struct xc_score *score)
{
	uint64_t value = xc_engine_load(e, bytes), at = map->slots[first].offset;
	uint32_t best = 0;
	for (uint32_t i = first; i < map->slot_count && i < POINTERS && score->looked++ < score->most; i++) {
		struct xc_score one = {
			.deep = score->deep, .texts = score->texts, .looked = score->looked, .most = score->most};
		if (map->slots[i].offset != at || !map->slots[i].in_union || map->slots[i].kind > XC_SLOT_CHARS)
			continue;
		score_pointer(e, &map->slots[i], value, &one);
		score->looked = one.looked;
		best = !one.bad && one.good > best ? one.good : best;
	}
	score->maybe += best;
}

static bool is_first_arm(const struct xc_typemap_slot *slot)
{
	return slot->in_union && !slot->is_later_arm && slot->kind <= XC_SLOT_CHARS;
}

static void score_object(const struct xc_engine *e, const struct xc_typemap *map, const uint8_t *bytes, uint64_t size,
			 struct xc_score *score, unsigned nest)
{
	for (uint32_t i = 0; i < map->slot_count && i < POINTERS && score->looked++ < score->most; i++) {
		const struct xc_typemap_slot *slot = &map->slots[i];
		if (slot->offset < size)
			score_slot(e, slot, bytes + slot->offset, size - slot->offset, score, nest);
		if (score->deep && is_first_arm(slot) && slot->offset + (uint64_t)e->word <= size)
			score_union(e, map, i, bytes + slot->offset, score);
	}
}

static void score_slot(const struct xc_engine *e, const struct xc_typemap_slot *slot, const uint8_t *bytes,
		       uint64_t size, struct xc_score *score, unsigned nest)
{
	uint64_t count = slot->count && slot->count < ELEMENTS_AHEAD ? slot->count : ELEMENTS_AHEAD;
	switch (slot->kind) {
	case XC_SLOT_POINTER:
	case XC_SLOT_CHARS:
	case XC_SLOT_VOID:
	case XC_SLOT_CODE:
		for (uint64_t i = 0; i < count && (i + 1) * e->word <= size && !slot->in_union; i++)
			score_pointer(e, slot, xc_engine_load(e, bytes + i * e->word), score);
		if (slot->back_at != slot->back_to && e->word <= size && is_close(score))
			score_back_link(e, slot, bytes, score);
		break;
	case XC_SLOT_OBJECTS:
		for (uint64_t i = 0; i < count && (i + 1) * slot->stride <= size && nest < XC_TYPING_NEST; i++)
			score_object(e, e->maps[slot->target], bytes + i * slot->stride, slot->stride, score, nest + 1);
		break;
	case XC_SLOT_TEXT:
		if (slot->stride <= size && bytes[0])
			score_text(bytes, slot->stride, score);
		break;
	case XC_SLOT_DOUBLE:
		for (uint64_t i = 0; i < count && (i + 1) * slot->stride <= size && is_close(score); i++)
			score_double(number_at(bytes + i * slot->stride, slot->stride), score);
		break;
	case XC_SLOT_BOOL:
		score->bad += slot->stride == 1 && size && bytes[0] > 1;
		break;
	case XC_SLOT_ENUM:
		if (slot->stride <= 8 && slot->stride <= size) {
			if (xc_typing_is_no_enumerator(slot->type, bytes, slot->stride))
				score->bad++;
			else if (number_at(bytes, slot->stride))
				score->good++;
		}
		break;
	default:
		break;
	}
}

static void begin(struct xc_score *score, uint64_t size)
{
	score->looked = 0;
	score->most = SLOTS + (uint32_t)(size < SLOTS_MOST ? size : SLOTS_MOST);
}

bool xc_typing_is_text(const uint8_t *bytes, uint64_t size, bool *empty_out)
{
	uint64_t most = size < LONGEST ? size : LONGEST, at = 0;
	const uint8_t *end = memchr(bytes, 0, most);
	uint64_t len = end ? (uint64_t)(end - bytes) : most;
	*empty_out = len == 0;
	if (!end && size <= LONGEST)
		return false;
	while (at < len) {
		size_t step = xc_text_plain_length((const char *)bytes + at, (size_t)(len - at));
		bool space = bytes[at] == '\n' || bytes[at] == '\t' || bytes[at] == '\r' || bytes[at] == 0x1b;
		if (step == 0 && !space)
			return !end && len - at < 4;
		at += step ? step : 1;
	}
	return true;
}

/* Only the first elements of an array that grows are used; in the room behind them anything may be. */
static bool is_plausible_array(const struct xc_engine *e, const struct xc_typemap *map, const uint8_t *bytes,
			       uint64_t size)
{
	struct xc_score score = {0};
	uint32_t used = 0; /* what was good before the first bad element */
	begin(&score, ELEMENTS * map->size);
	uint64_t count = size / map->size, step = count <= ELEMENTS ? 1 : count / (ELEMENTS - ELEMENTS_AHEAD);
	for (uint64_t i = 0; i < count; i += i < ELEMENTS_AHEAD ? 1 : step) {
		score_object(e, map, bytes + i * map->size, map->size, &score, 0);
		used = score.bad ? used : score.good;
	}
	return score.bad <= score.good / 2 || (!map->is_record && used >= GOOD_HEAP && used == score.good);
}

static bool is_plausible_object(const struct xc_engine *e, const struct xc_typemap *map, const uint8_t *bytes,
				uint64_t size)
{
	struct xc_score score = {0};
	if (xc_typing_has_text_instead(e, map, bytes, size))
		return false;
	begin(&score, size);
	score_object(e, map, bytes, size, &score, 0);
	return score.bad <= score.good;
}

bool xc_typing_is_plausible(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint32_t item)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	const struct xc_typed *typed = &e->typing->items[item];
	const struct xc_typemap *map = e->maps[e->facts[item].map];
	uint64_t size = xc_block_size(blocks, block), offset = typed->offset;
	if (typed->shape == XC_TYPED_TEXT || !map->slot_count)
		return true;
	if (offset >= size || size - offset < map->size)
		return false;
	uint64_t most = typed->shape == XC_TYPED_ARRAY ? size - offset : map->size;
	const uint8_t *bytes = xc_window(window, xc_block_addr(blocks, block) + offset, most);
	if (!bytes)
		return true; /* not dumped: no evidence against it */
	if (typed->shape == XC_TYPED_ARRAY)
		return is_plausible_array(e, map, bytes, most);
	return is_plausible_object(e, map, bytes, most) || (!offset && xc_typing_is_run_over(e->heap, block));
}

/* The offset in the type's description of a byte of an array, or of one that ends in elements. */
static uint64_t place_in(const struct xc_typemap *map, uint64_t in)
{
	if (map->has_flexible && map->flexible_size && in >= map->flexible_at)
		return map->flexible_at + (in - map->flexible_at) % map->flexible_size;
	return in % map->size;
}

/* Scores pointers to blocks in words where the type has none. */
static void score_unexplained(const struct xc_engine *e, const struct xc_typemap *map, uint8_t shape, uint64_t offset,
			      const uint8_t *bytes, uint64_t size, struct xc_score *score)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	const uint64_t bytes_of_word = e->word;
	for (uint64_t at = 0; at + bytes_of_word <= size; at += bytes_of_word) {
		uint64_t value = xc_engine_load(e, bytes + at), in = at - offset;
		uint32_t block = XC_NO_BLOCK;
		bool outside = at < offset || (shape != XC_TYPED_ARRAY && in >= map->size);
		score->loose += outside && value && !map->has_flexible;
		if (value >= blocks->lo && value <= blocks->hi && value % bytes_of_word == 0)
			block = xc_blocks_find(blocks, value);
		if (block == XC_NO_BLOCK || value != xc_block_addr(blocks, block))
			continue;
		uint64_t word = map->size && !outside ? place_in(map, in) / bytes_of_word : 0;
		if (outside)
			score->bad += map->has_flexible ? 0 : 1;
		else if (word < 64 && map->quiet >> word & 1)
			score->bad += 3;
		else if (word < 64 && !((map->pointers | map->loud) >> word & 1))
			score->bad += 1;
	}
}

enum { COMPARED = 512 };

void xc_typing_score(const struct xc_engine *e, struct xc_window *window, uint32_t number, uint8_t shape,
		     uint64_t offset, uint32_t block, struct xc_score *score)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	const struct xc_typemap *map = e->maps[number];
	uint64_t size = xc_block_size(blocks, block), shown = size < 4 * COMPARED ? size : 4 * COMPARED;
	const uint8_t *bytes = xc_window(window, xc_block_addr(blocks, block), shown);
	if (!bytes || offset > size || size - offset < map->size) {
		score->bad += bytes ? 4 : 0;
		return;
	}
	uint64_t step = map->size ? map->size : 1, at = offset;
	unsigned count = 0;
	score->self = number;
	score->bytes = bytes;
	score->addr = xc_block_addr(blocks, block);
	begin(score, shown);
	do {
		if (at < shown && map->size <= shown - at)
			score_object(e, map, bytes + at, map->has_flexible ? shown - at : map->size, score, 0);
		bool *used = at == offset ? &score->used_first : &score->used_later;
		for (uint64_t i = at; shape == XC_TYPED_ARRAY && !*used && i < shown && i < at + step; i++)
			*used = bytes[i] != 0;
		at += step;
	} while (shape == XC_TYPED_ARRAY && at < shown && ++count < ELEMENTS);
	score_unexplained(e, map, shape, offset, bytes, shown < COMPARED ? shown : COMPARED, score);
}

bool xc_typing_is_raw(const struct xc_engine *e, struct xc_window *window, uint32_t block)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	uint64_t size = xc_block_size(blocks, block), shown = size < COMPARED ? size : COMPARED;
	const uint8_t *bytes = xc_window(window, xc_block_addr(blocks, block), shown);
	for (uint64_t at = 0; bytes && at + e->word <= shown; at += e->word) {
		uint64_t value = xc_engine_load(e, bytes + at);
		if (xc_blocks_find(blocks, value) != XC_NO_BLOCK)
			return false;
	}
	return bytes;
}
