/* typing_judge: does memory look like an object of a type?
 *
 * Pointers must be NULL or lead to memory, aligned as what they point to; a bool is 0 or 1; an enum is one of its values. Memory
 * that was never written may hold anything, and programs keep flags in pointers: so the good and the bad are counted, and what has
 * more bad than good is refused. */
#include "typing_engine.h"

#include <string.h>

enum { ELEMENTS_AHEAD = 4, ELEMENTS = 12, POINTERS = 64, LONGEST = 1 << 16, GOOD_HEAP = 3 };

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof word);
	return word;
}

/* Does a pointer of the slot lead to where it can? */
static void score_pointer(const struct xc_engine *e, const struct xc_slot *slot, uint64_t value, struct xc_score *score)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	const struct xc_typemap *target = slot->target ? e->maps[slot->target] : NULL;
	if (value == 0 || slot->in_union)
		return;
	if (target && target->is_record && target->size >= 8 && target->size % 8 == 0 && value & 3) {
		score->bad += 2;
		return;
	}
	if (value >= blocks->lo && value <= blocks->hi) {
		uint32_t block = xc_blocks_find(blocks, value);
		if (block == XC_NO_BLOCK)
			score->bad += xc_space_find(e->heap->process->space, value) ? 1 : 2;
		else if (target && target->size > xc_block_size(blocks, block) - (value - xc_block_addr(blocks, block)))
			score->bad += 1;
		else
			score->good += slot->kind == XC_SLOT_CODE ? 0 : GOOD_HEAP;
		return;
	}
	const struct xc_segment *segment = value < 4096 ? NULL : xc_space_find(e->heap->process->space, value);
	if (segment)
		score->good += 2;
	else
		score->bad += 2;
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

static void score_slot(const struct xc_engine *e, const struct xc_slot *slot, const uint8_t *bytes, uint64_t size,
		       struct xc_score *score, unsigned nest);

static void score_object(const struct xc_engine *e, const struct xc_typemap *map, const uint8_t *bytes, uint64_t size,
			 struct xc_score *score, unsigned nest)
{
	for (uint32_t i = 0; i < map->slot_count && i < POINTERS; i++)
		if (map->slots[i].offset < size)
			score_slot(e, &map->slots[i], bytes + map->slots[i].offset, size - map->slots[i].offset, score,
				   nest);
}

static void score_slot(const struct xc_engine *e, const struct xc_slot *slot, const uint8_t *bytes, uint64_t size,
		       struct xc_score *score, unsigned nest)
{
	uint64_t count = slot->count < ELEMENTS_AHEAD ? slot->count : ELEMENTS_AHEAD;
	switch (slot->kind) {
	case XC_SLOT_POINTER:
	case XC_SLOT_CHARS:
	case XC_SLOT_VOID:
	case XC_SLOT_CODE:
		for (uint64_t i = 0; i < count && i * 8 + 8 <= size; i++)
			score_pointer(e, slot, word_at(bytes + i * 8), score);
		break;
	case XC_SLOT_OBJECTS:
		for (uint64_t i = 0; i < count && (i + 1) * slot->stride <= size && nest < XC_TYPING_NEST; i++)
			score_object(e, e->maps[slot->target], bytes + i * slot->stride, slot->stride, score, nest + 1);
		break;
	case XC_SLOT_BOOL:
		score->bad += slot->stride == 1 && size && bytes[0] > 1;
		break;
	case XC_SLOT_ENUM:
		if (slot->stride <= 8 && slot->stride <= size) {
			if (!is_enumerator(slot->type, number_at(bytes, slot->stride), slot->stride))
				score->bad++;
			else if (number_at(bytes, slot->stride))
				score->good++;
		}
		break;
	default:
		break;
	}
}

void xc_typing_score(const struct xc_engine *e, const struct xc_typemap *map, const uint8_t *bytes, uint64_t size,
		     struct xc_score *score)
{
	score_object(e, map, bytes, size, score, 0);
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

static bool judge_array(const struct xc_engine *e, const struct xc_typemap *map, const uint8_t *bytes, uint64_t size)
{
	struct xc_score score = {0};
	uint64_t count = size / map->size, step = count <= ELEMENTS ? 1 : count / (ELEMENTS - ELEMENTS_AHEAD);
	for (uint64_t i = 0; i < count; i += i < ELEMENTS_AHEAD ? 1 : step)
		score_object(e, map, bytes + i * map->size, map->size, &score, 0);
	return score.bad <= score.good / 2;
}

bool xc_typing_judge(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint32_t item)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	const struct xc_typed *typed = &e->typing->items[item];
	const struct xc_typemap *map = e->maps[e->facts[item].map];
	uint64_t size = xc_block_size(blocks, block), offset = typed->offset;
	struct xc_score score = {0};
	if (typed->shape == XC_TYPED_TEXT || !map->slot_count)
		return true;
	if (offset >= size || size - offset < map->size)
		return false;
	uint64_t most = typed->shape == XC_TYPED_ARRAY ? size - offset : map->size;
	const uint8_t *bytes = xc_window(window, xc_block_addr(blocks, block) + offset, most);
	if (!bytes)
		return true; /* not dumped: nothing speaks against it */
	if (typed->shape == XC_TYPED_ARRAY)
		return judge_array(e, map, bytes, most);
	score_object(e, map, bytes, most, &score, 0);
	return score.bad <= score.good;
}
