/* typing_refute: does a block's memory rule a type out?
 *
 * typing_score weighs good and bad signs. Some signs are no matter of weight: no program keeps the address of a block
 * in an int, in a double or in a long, nor in two ints side by side, nor the number 5 in a pointer; and an enum has one
 * of its values. A guess that they contradict is withdrawn: an honest "unknown" is better. Only memory that the program
 * wrote speaks, and the first object of an array speaks for all: the room after the used elements may hold anything.
 *
 * A single contradiction refutes a weak type, a stray address one that was learned from other blocks, two of them a
 * strong one, none an exact one: an object that a typed pointer leads to may not be initialized yet, or be stale. */
#include "heap/types/typing_map.h"

#include <string.h>

#include "core/base/text.h"

enum {
	PAGE = 4096,
	SENTINEL = 1, /* a pointer that means "deleted", "locked", … */
	ELEMENTS = 4, /* of an array inside an object */
	STEPS = 512,  /* for an object */
	WORDS = 64,   /* that the masks of a map have */
	TARGET = 64,  /* bytes of a pointer's target */
	NEAR = 16,    /* bytes at the beginning of a text */
	SLOTS = 64,   /* of a type over which text may lie, */
	LEAST = 16,   /* so many characters, which are no chance, */
	LOOK = 256,   /* and that are looked at */
	SHORT = 4,    /* a text of fewer characters may be a number, */
	SHARE = 8,    /* and one that is a smaller part of its block, */
	NUMBER = 8,   /* unless it has as many characters */
};

/* Contradictions found in an object. */
struct refutation {
	const struct xc_engine *engine;
	unsigned count;  /* of all */
	unsigned strays; /* addresses of blocks in members that hold none */
	unsigned steps;  /* left */
	bool deep;       /* look at the pointers' targets, too */
};

static void refute_object(struct refutation *r, const struct xc_typemap *map, const uint8_t *bytes, uint64_t size,
			  unsigned nest);

/* Is the value an address in a live block? On 32 bits numbers may be so by chance, other than at a beginning. */
static bool is_in_live_block(const struct xc_engine *e, uint64_t value)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	uint32_t block = value >= blocks->lo && value <= blocks->hi ? xc_blocks_find(blocks, value) : XC_NO_BLOCK;
	return block != XC_NO_BLOCK && !xc_block_is_free(xc_block_state(blocks, block)) &&
	       (e->word == 8 || value == xc_block_addr(blocks, block));
}

/* No address at all: a small number, or the bits of a double or of a text. A marked pointer is none of these. */
static bool is_no_address(const struct xc_engine *e, uint64_t value)
{
	uint64_t top = value >> 48;
	return value > SENTINEL && (value < PAGE || (e->word == 8 && top != 0 && top != UINT16_MAX));
}

/* Is the text rather a small number of four bytes, with others behind it? What is left in the block of a short text
 * fills these bytes, too. */
static bool is_number(const uint8_t *bytes, uint64_t len, uint64_t size)
{
	return len < SHORT && size >= NEAR && xc_is_zero(bytes + len, SHORT - len) &&
	       !xc_is_zero(bytes + SHORT, NEAR - SHORT);
}

/* The first bytes of a pointer's target. */
static bool is_no_text(const uint8_t *bytes, uint64_t size)
{
	bool empty;
	if (xc_typing_is_text(bytes, size, &empty))
		return is_number(bytes, strnlen((const char *)bytes, size), size);
	return xc_text_ascii_run((const char *)bytes, size) < size;
}

/* Are the objects too narrow for an address, or no integers? Bytes of no type, which plugins give, are neither. */
static bool is_narrow(const struct xc_engine *e, const struct xc_typemap *map)
{
	enum xc_type_kind kind = map->bare ? map->bare->kind : XC_TYPE_VOID;
	return !map->is_record && (kind == XC_TYPE_FLOAT ||
				   (map->size && map->size < e->word && (kind == XC_TYPE_INT || kind == XC_TYPE_CHAR)));
}

/* Of `size` bytes at an address in a block, those that are the block's. */
static uint64_t within_block(const struct xc_engine *e, uint64_t addr, uint64_t size)
{
	uint32_t block = xc_blocks_find(&e->heap->blocks, addr);
	uint64_t left = xc_block_addr(&e->heap->blocks, block) + xc_block_size(&e->heap->blocks, block) - addr;
	return left < size ? left : size;
}

/* Do narrow numbers, one after the other, make up addresses of blocks? Then they are pointers. Only a beginning counts:
 * of other addresses there are many. */
static bool has_beginning(const struct xc_engine *e, const uint8_t *bytes, uint64_t size)
{
	const struct xc_blocks *blocks = &e->heap->blocks;
	for (uint64_t at = 0; at + e->word <= size && e->word == sizeof(uint64_t); at += e->word) {
		uint64_t value = xc_engine_load(e, bytes + at);
		uint32_t block =
			value >= blocks->lo && value <= blocks->hi ? xc_blocks_find(blocks, value) : XC_NO_BLOCK;
		if (block != XC_NO_BLOCK && value == xc_block_addr(blocks, block) && is_in_live_block(e, value))
			return true;
	}
	return false;
}

/* Does the target contradict the pointer's type? Only that of a guess is looked at, and only one that is not freed. */
static bool is_refuted_target(struct refutation *r, const struct xc_typemap_slot *slot, uint64_t value)
{
	const struct xc_engine *e = r->engine;
	const struct xc_typemap *map = e->maps[slot->target];
	uint8_t bytes[TARGET];
	if (!r->deep || !is_in_live_block(e, value))
		return false;
	size_t got = xc_space_peek(e->heap->process->space, value, bytes, sizeof bytes);
	if (slot->kind == XC_SLOT_CHARS && slot->target == e->bytes)
		return got && is_no_text(bytes, got);
	if (is_narrow(e, map))
		return value % e->word == 0 && has_beginning(e, bytes, within_block(e, value, got));
	struct refutation target = {.engine = e, .steps = STEPS};
	if (slot->kind == XC_SLOT_POINTER && map->is_record && map->compiled && map->size && map->size <= got)
		refute_object(&target, map, bytes, map->size, 0);
	return target.count || target.strays;
}

static void refute_pointers(struct refutation *r, const struct xc_typemap_slot *slot, const uint8_t *bytes,
			    uint64_t count)
{
	for (uint64_t i = 0; i < count && r->steps; i++, r->steps--) {
		uint64_t value = xc_engine_load(r->engine, bytes + i * slot->stride);
		r->count += is_no_address(r->engine, value) || is_refuted_target(r, slot, value);
	}
}

static void refute_slot(struct refutation *r, const struct xc_typemap_slot *slot, const uint8_t *bytes, uint64_t size,
			unsigned nest)
{
	uint64_t fit = slot->stride ? size / slot->stride : 0, count = slot->count < fit ? slot->count : fit;
	count = count < ELEMENTS ? count : ELEMENTS;
	switch (slot->kind) {
	case XC_SLOT_POINTER:
	case XC_SLOT_CHARS:
	case XC_SLOT_CODE:
		if (!slot->casts && !slot->headers)
			refute_pointers(r, slot, bytes, count);
		break;
	case XC_SLOT_BOOL:
		r->count += slot->stride == 1 && fit && bytes[0] > 1;
		break;
	case XC_SLOT_ENUM:
		r->count += fit && slot->stride <= 8 && xc_typing_is_no_enumerator(slot->type, bytes, slot->stride);
		break;
	case XC_SLOT_OBJECTS:
		for (uint64_t i = 0; i < count && nest < XC_TYPING_NEST; i++)
			refute_object(r, r->engine->maps[slot->target], bytes + i * slot->stride, slot->stride,
				      nest + 1);
		break;
	default:
		break;
	}
}

static void refute_object(struct refutation *r, const struct xc_typemap *map, const uint8_t *bytes, uint64_t size,
			  unsigned nest)
{
	const struct xc_engine *e = r->engine;
	for (uint32_t i = 0; i < map->slot_count && r->steps; i++, r->steps--)
		if (!map->slots[i].in_union && map->slots[i].offset < size)
			refute_slot(r, &map->slots[i], bytes + map->slots[i].offset, size - map->slots[i].offset, nest);
	for (unsigned word = 0; word < WORDS && (word + 1) * (uint64_t)e->word <= size; word++)
		if ((map->quiet | map->plain) >> word & 1)
			r->strays += is_in_live_block(e, xc_engine_load(e, bytes + (uint64_t)word * e->word));
}

/* A double of everyday size; no characters are so. */
static bool is_double(uint64_t value)
{
	unsigned exponent = (unsigned)(value >> 52) & 0x7ff;
	return exponent > 1023 - 16 && exponent < 1023 + 20;
}

bool xc_typing_text_fills(const uint8_t *bytes, uint64_t shown, uint64_t size, uint64_t length)
{
	return length >= size / SHARE || (length >= NUMBER && xc_is_zero(bytes + length, shown - length));
}

static bool is_mapped(const struct xc_engine *e, uint64_t addr)
{
	uint8_t byte;
	return xc_space_peek(e->heap->process->space, addr, &byte, 1) == 1;
}

bool xc_typing_is_all_text(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint64_t offset,
			   uint64_t least)
{
	uint64_t addr = xc_block_addr(&e->heap->blocks, block), size = xc_block_size(&e->heap->blocks, block);
	uint64_t shown = size < XC_WINDOW_COPY ? size : XC_WINDOW_COPY;
	const uint8_t *bytes = offset < shown ? xc_window(window, addr, shown) : NULL;
	bool empty;
	if (!bytes || !xc_typing_is_text(bytes + offset, shown - offset, &empty) || empty)
		return false;
	uint64_t len = strnlen((const char *)bytes + offset, shown - offset), at = offset + len + 1;
	if (least >= SHORT && !xc_typing_text_fills(bytes + offset, shown - offset, size - offset, len))
		return false;
	if (len < least || (shown >= e->word && is_in_live_block(e, xc_engine_load(e, bytes))) ||
	    (len < e->word && shown - offset >= e->word && is_mapped(e, xc_engine_load(e, bytes + offset))))
		return false; /* addresses may be six printable bytes and two zeroes */
	if (len >= SHORT && xc_typing_fits(e, at, size))
		return true; /* after it is what the block was before */
	if (is_number(bytes + offset, len, shown - offset))
		return false;
	for (at = (at + e->word - 1) & -(uint64_t)e->word; at + e->word <= shown; at += e->word) {
		uint64_t value = xc_engine_load(e, bytes + at);
		if (is_in_live_block(e, value) || (e->word == 8 && is_double(value)))
			return false;
	}
	return true;
}

/* ---- text instead of an object ---- */

/* Does the object begin with a pointer? By the names of GNU's library; LLVM's strings may begin with characters. */
static bool begins_with_pointer(const struct xc_type *type)
{
	static const char *const names[] = {"std::vector<",        "std::__cxx11::basic_string<",
					    "std::__cxx11::list<", "std::unique_ptr<",
					    "std::shared_ptr<",    "std::unordered_map<"};
	for (size_t i = 0; type && type->name && i < XC_COUNT(names); i++)
		if (xc_begins_with(type->name, names[i]))
			return true;
	return false;
}

/* Text from the beginning of the object, over a whole pointer: the block was freed and is used for the text, or the
 * pointer that leads there has a wrong type. */
bool xc_typing_has_text_instead(const struct xc_engine *e, const struct xc_typemap *map, const uint8_t *bytes,
				uint64_t size)
{
	uint64_t len = 0;
	if (size < LEAST || !map->has_pointers || bytes[0] < ' ' || bytes[LEAST - 1] < ' ')
		return false;
	len = xc_text_readable_length((const char *)bytes, size < LOOK ? size : LOOK);
	for (uint32_t i = 0; len >= LEAST && i < map->slot_count && i < SLOTS; i++) {
		const struct xc_typemap_slot *slot = &map->slots[i];
		bool pointer = slot->kind <= XC_SLOT_CODE ||
			       (slot->kind == XC_SLOT_EVIDENCE && begins_with_pointer(slot->type));
		if (pointer && !slot->in_union && slot->offset + (uint64_t)e->word <= len)
			return true;
	}
	return false;
}

bool xc_typing_is_run_over(const struct xc_heap *heap, uint32_t block)
{
	char before[sizeof(uint64_t)];
	xc_addr addr = xc_block_addr(&heap->blocks, block);
	return heap->damage_count && addr >= sizeof before &&
	       xc_space_peek(heap->process->space, addr - sizeof before, before, sizeof before) == sizeof before &&
	       xc_text_readable_length(before, sizeof before) == sizeof before;
}

bool xc_typing_is_text_instead(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint32_t item)
{
	const struct xc_typed *typed = &e->typing->items[item];
	const struct xc_typemap *map = e->maps[e->facts[item].map];
	uint64_t size = xc_block_size(&e->heap->blocks, block);
	if (typed->shape == XC_TYPED_TEXT || typed->shape == XC_TYPED_ARRAY || !map->slot_count ||
	    typed->offset >= size || size - typed->offset < map->size)
		return false;
	const uint8_t *bytes = xc_window(window, xc_block_addr(&e->heap->blocks, block) + typed->offset, map->size);
	return bytes && xc_typing_has_text_instead(e, map, bytes, map->size) &&
	       (typed->offset || !xc_typing_is_run_over(e->heap, block));
}

/* ---- refuting ---- */

/* A text that begins with its end has nothing after it: such are the numbers that are divisible by 256. */
static bool is_refuted_text(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint64_t offset)
{
	uint64_t size = xc_block_size(&e->heap->blocks, block), shown = size < XC_WINDOW_COPY ? size : XC_WINDOW_COPY;
	const uint8_t *bytes = offset < shown ? xc_window(window, xc_block_addr(&e->heap->blocks, block), shown) : NULL;
	if (bytes && bytes[offset] == 0)
		return !xc_is_zero(bytes + offset, shown - offset);
	return bytes && !xc_typing_is_all_text(e, window, block, offset, 1);
}

/* Where the allocator rounded up: the address of a block there shows a larger object. */
static bool has_address_behind(const struct xc_engine *e, uint32_t block, uint64_t end)
{
	uint64_t size = xc_block_size(&e->heap->blocks, block), word = e->word;
	uint8_t bytes[TARGET];
	end = (end + word - 1) & -word;
	size_t want = end < size ? (size_t)(size - end < sizeof bytes ? size - end : sizeof bytes) : 0;
	size_t got =
		want ? xc_space_peek(e->heap->process->space, xc_block_addr(&e->heap->blocks, block) + end, bytes, want)
		     : 0;
	for (uint64_t at = 0; at + word <= got; at += word)
		if (is_in_live_block(e, xc_engine_load(e, bytes + at)))
			return true;
	return false;
}

/* A guess of numbers, in which there are pointers. */
static bool is_refuted_array(const struct xc_engine *e, struct xc_window *window, uint32_t block,
			     const struct xc_typed *typed)
{
	uint64_t size = xc_block_size(&e->heap->blocks, block), shown = size < TARGET ? size : TARGET;
	const uint8_t *bytes = typed->offset ? NULL : xc_window(window, xc_block_addr(&e->heap->blocks, block), shown);
	return bytes && has_beginning(e, bytes, shown);
}

/* Looks at the first object of a record. False when there is none to look at. */
static bool refute_first(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint32_t item,
			 struct refutation *r)
{
	const struct xc_typed *typed = &e->typing->items[item];
	const struct xc_typemap *map = e->maps[e->facts[item].map];
	uint64_t size = xc_block_size(&e->heap->blocks, block);
	if (!map->compiled || !map->is_record || typed->offset >= size || size - typed->offset < map->size)
		return false;
	const uint8_t *bytes = xc_window(window, xc_block_addr(&e->heap->blocks, block) + typed->offset, map->size);
	if (bytes)
		refute_object(r, map, bytes, map->size, 0);
	return bytes;
}

bool xc_typing_contradicts(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint32_t item,
			   unsigned *count_out)
{
	struct refutation r = {.engine = e, .steps = STEPS};
	bool looked = refute_first(e, window, block, item, &r);
	*count_out = r.count + r.strays;
	return looked;
}

static bool is_refuted(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint32_t item)
{
	const struct xc_typed *typed = &e->typing->items[item];
	const struct xc_typemap *map = e->maps[e->facts[item].map];
	uint64_t size = xc_block_size(&e->heap->blocks, block);
	if (typed->shape == XC_TYPED_TEXT)
		return typed->confidence == XC_TYPE_WEAK && is_refuted_text(e, window, block, typed->offset);
	if (typed->confidence == XC_TYPE_WEAK && is_narrow(e, map))
		return is_refuted_array(e, window, block, typed);
	struct refutation r = {.engine = e, .steps = STEPS, .deep = typed->confidence == XC_TYPE_WEAK};
	if (typed->confidence == XC_TYPE_EXACT || !refute_first(e, window, block, item, &r))
		return false;
	bool split =
		!xc_typing_fits(e, map->size, size) && xc_typing_may_fit(e, map->size, size); /* a rest of old use */
	if (typed->shape == XC_TYPED_ONE && !map->has_flexible && size / 2 < map->size && !split) /* else an array? */
		r.count += has_address_behind(e, block, typed->offset + map->size);
	return typed->confidence == XC_TYPE_WEAK ? r.count || r.strays : r.strays > (e->facts[item].is_learned ? 0 : 1);
}

bool xc_typing_is_refuted(const struct xc_engine *e, struct xc_window *window, uint32_t block, uint32_t item)
{
	return is_refuted(e, window, block, item) &&
	       (e->typing->items[item].offset || !xc_typing_is_run_over(e->heap, block));
}
