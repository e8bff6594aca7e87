/* typing_arm: which of a union's pointers is meant.
 *
 * A union's member is no evidence by itself. The value of a tag beside the union groups the pointers; in each group,
 * and without a tag in each block, the contents of the blocks speak for or against each member:
 *
 *	char *          for: a text that fills the block; against: no text, or characters that are padded like numbers
 *	to a record     the score of typing_score; against: a size that does not fit
 *	to numbers      never for; against: pointers, elements of another width
 *	to bytes        for: a text, unless there is a char * as well; against: as for numbers
 *
 * A member is chosen if most blocks speak for it, or if all others are excluded. */
#include "heap/types/typing_arm.h"
#include "heap/types/typing_map.h"

#include <string.h>

/* What a block's contents say of a member. */
enum { NO = -1, PERHAPS, YES, SURELY };

enum { FEW = 4, AGAINST = 3, PAD = 4, NEAR = 16, WORDS = 64 };

/* ---- one block ---- */

static int judge_text(const struct xc_engine *e, const uint8_t *bytes, uint64_t shown, uint64_t size)
{
	bool empty, fits;
	if (!xc_typing_is_text(bytes, shown, &empty))
		return NO;
	uint64_t len = strnlen((const char *)bytes, shown);
	fits = xc_typing_fits(e, len + 1, size);
	if (len >= PAD)
		return fits ? SURELY : PERHAPS;
	if (shown >= NEAR && xc_is_zero(bytes + len, PAD - len) && !xc_is_zero(bytes + PAD, NEAR - PAD))
		return NO;
	return !fits && !xc_is_zero(bytes + len, shown - len) ? NO : PERHAPS;
}

/* Do the words contradict integers of that many bytes? Small wide ones leave every word's end empty; narrow ones fill
 * it. */
static bool has_other_width(const struct xc_engine *e, const uint8_t *bytes, uint64_t shown, uint64_t element)
{
	unsigned filled = 0, empty = 0;
	uint64_t last = 0, words = shown / e->word < WORDS ? shown / e->word : WORDS;
	for (uint64_t i = 0; i < words && e->word == 8; i++) {
		uint64_t value = xc_engine_load(e, bytes + i * e->word);
		if (last && element < 8)
			empty += last >> 8 * element == 0;
		if (last && element == 8)
			empty += last >> 48 == 0 || last >> 48 == UINT16_MAX;
		filled += last != 0;
		last = value ? value : last;
	}
	return filled && last && (element < 8 ? empty == filled && last >> 8 * element == 0 : empty == 0);
}

static bool has_shape(const struct xc_engine *e, const struct xc_typemap *map, uint64_t size, uint8_t *shape_out)
{
	bool one = map->is_opaque || xc_typing_may_fit(e, map->size, size) || (map->has_flexible && size >= map->size);
	*shape_out = one && map->is_record ? XC_TYPED_ONE : XC_TYPED_ARRAY;
	if (one || !map->size)
		return one;
	return size >= map->size && (!map->is_record || xc_typing_fits(e, size / map->size * map->size, size));
}

/* Do the block's contents speak for the member? `alone`: no other block helps, and types may be flowing. */
static int judge(const struct xc_engine *e, struct xc_window *window, const struct xc_typemap_slot *slot,
		 uint32_t block, bool alone)
{
	const struct xc_typemap *map = e->maps[slot->target];
	uint64_t size = xc_block_size(&e->heap->blocks, block), shown = size < XC_WINDOW_COPY ? size : XC_WINDOW_COPY;
	const uint8_t *bytes = xc_window(window, xc_block_addr(&e->heap->blocks, block), shown);
	struct xc_score score = {.deep = !alone, .texts = true};
	uint8_t shape;
	if (!bytes)
		return PERHAPS;
	int text = slot->kind == XC_SLOT_CHARS ? judge_text(e, bytes, shown, size) : NO;
	if (text > PERHAPS || slot->target == e->bytes)
		return text;
	if (!map->compiled || !has_shape(e, map, size, &shape))
		return NO;
	bool numbers = !map->is_record && !map->has_pointers;
	if (numbers && map->bare->kind == XC_TYPE_INT && has_other_width(e, bytes, shown, map->size))
		return NO;
	xc_typing_score(e, window, slot->target, shape, 0, block, &score);
	int64_t value = (int64_t)score.good - AGAINST * (int64_t)score.bad;
	if (value < 0 || (numbers && score.bad))
		return NO;
	if (value > 0 && score.sure)
		return SURELY;
	return value > 0 && !alone && score.good > 1 ? YES : PERHAPS;
}

/* What the block says of each member. A text is meant by char *, if there is one, and not by a pointer to bytes. */
static void judge_all(const struct xc_engine *e, struct xc_window *window, const struct xc_arms *arms, uint32_t block,
		      bool alone, int said[XC_ARMS])
{
	bool text = false;
	for (unsigned i = 0; i < arms->count; i++) {
		const struct xc_typemap_slot *slot = arms->items[i].slot;
		said[i] = judge(e, window, slot, block, alone);
		text |= said[i] >= YES && slot->target == e->bytes;
	}
	for (unsigned i = 0; text && i < arms->count; i++)
		if (arms->items[i].slot->kind == XC_SLOT_CHARS && arms->items[i].slot->target != e->bytes)
			said[i] = said[i] > PERHAPS ? PERHAPS : said[i];
}

/* ---- groups ---- */

/* Is the same pointer there already, or one of a struct whose tag says that it is not there? */
static bool is_needless(const struct xc_arms *arms, const struct xc_typemap_slot *first,
			const struct xc_typemap_slot *slot, uint64_t tag)
{
	if (tag == XC_TAG_OF_OTHERS && slot->tag.values && slot->tag.at == first->tag.at)
		return true;
	for (unsigned i = 0; i < arms->count; i++)
		if (arms->items[i].slot->target == slot->target && arms->items[i].slot->kind == slot->kind)
			return true;
	return false;
}

void xc_typing_arms_find(struct xc_engine *e, const struct xc_typemap_slot *slot, uint64_t tag, struct xc_arms *arms)
{
	const struct xc_typemap *owner = e->maps[slot->owner];
	*arms = (struct xc_arms){.tagged = slot->tag.size != 0};
	for (uint32_t i = 0; i < owner->slot_count; i++) {
		struct xc_typemap_slot *at = &owner->slots[i];
		if (at->offset != slot->offset || !at->ambiguous || is_needless(arms, slot, at, tag))
			continue;
		if (at->kind > XC_SLOT_CHARS || !at->target || arms->count == XC_ARMS) {
			arms->open |= at->kind != XC_SLOT_CODE;
			continue;
		}
		xc_typemap_compile(e, at->target);
		arms->open |= e->maps[at->target]->is_header || e->maps[at->target]->derived_count > 0;
		if (e->maps[at->target]->is_header)
			continue;
		arms->items[arms->count++] = (struct xc_arm){.slot = at};
	}
}

void xc_typing_arms_forget(struct xc_arms *arms)
{
	arms->blocks = arms->kept ? arms->blocks : 0;
	for (unsigned i = 0; i < arms->count && !arms->kept; i++)
		arms->items[i].yes = arms->items[i].no = arms->items[i].sure = 0;
}

void xc_typing_arms_count(const struct xc_engine *e, struct xc_window *window, struct xc_arms *arms, uint32_t block)
{
	int said[XC_ARMS];
	arms->blocks++;
	judge_all(e, window, arms, block, false, said);
	for (unsigned i = 0; i < arms->count; i++) {
		arms->items[i].yes += said[i] >= YES;
		arms->items[i].sure += said[i] == SURELY;
		arms->items[i].no += said[i] == NO;
	}
}

/* The only member that most blocks speak for. */
static const struct xc_arm *most_wanted(const struct xc_arms *arms)
{
	const struct xc_arm *best = NULL;
	uint32_t next = 0;
	for (unsigned i = 0; i < arms->count; i++) {
		const struct xc_arm *at = &arms->items[i];
		if (xc_arm_is_out(arms, at))
			continue;
		if (best && at->yes <= best->yes) {
			next = at->yes > next ? at->yes : next;
			continue;
		}
		next = best ? best->yes : 0;
		best = at;
	}
	return best && best->yes && best->yes * 4 >= arms->blocks && next * 2 < best->yes ? best : NULL;
}

/* The only member that is not excluded. */
static const struct xc_arm *left_over(const struct xc_arms *arms)
{
	const struct xc_arm *found = NULL;
	for (unsigned i = 0; i < arms->count && !arms->open; i++) {
		if (xc_arm_is_out(arms, &arms->items[i]))
			continue;
		if (found)
			return NULL;
		found = &arms->items[i];
	}
	return found;
}

/* Are all other members excluded by nearly all blocks, and the chosen one by none? */
static bool is_only_one(const struct xc_arms *arms, const struct xc_arm *arm)
{
	for (unsigned i = 0; i < arms->count; i++)
		if (&arms->items[i] != arm && arms->items[i].no * 10 < arms->blocks * 9)
			return false;
	return !arms->open && arm->no == 0 && arm->yes;
}

const struct xc_arm *xc_typing_arms_choose(const struct xc_arms *arms, enum xc_confidence *confidence_out)
{
	const struct xc_arm *arm = most_wanted(arms);
	bool clear = arm && arm->yes * 4 >= arms->blocks * 3 && arm->no * 20 <= arms->blocks;
	bool sure = arm && arms->tagged && arms->blocks >= FEW && arm->sure * 2 >= arm->yes &&
		    (clear || is_only_one(arms, arm)); /* a size may have been rounded up, and proves nothing */
	*confidence_out = sure ? XC_TYPE_STRONG : XC_TYPE_WEAK;
	if (!arms->tagged && arms->blocks > 1) /* they need not be alike */
		return arm && arm->no == 0 ? arm : NULL;
	return arm ? arm : left_over(arms);
}

uint32_t xc_typing_arm_item(const struct xc_engine *e, const struct xc_arm *arm, uint64_t size, bool weak)
{
	uint8_t shape;
	if (!arm->slot->items)
		return 0;
	if (arm->slot->kind == XC_SLOT_CHARS && (arm->yes || arm->slot->target == e->bytes))
		return arm->slot->items + (weak ? XC_ITEM_STRING_WEAK : XC_ITEM_STRING);
	const struct xc_typemap *map = e->maps[arm->slot->target];
	if (xc_typing_may_be_derived(e, map, size) || !has_shape(e, map, size, &shape))
		return 0;
	if (shape == XC_TYPED_ONE)
		return arm->slot->items + (weak ? XC_ITEM_ONE_WEAK : XC_ITEM_ONE);
	return arm->slot->items + (weak ? XC_ITEM_ARRAY_WEAK : XC_ITEM_ARRAY);
}

uint32_t xc_typing_arms_of_block(const struct xc_engine *e, struct xc_window *window, const struct xc_arms *group,
				 uint32_t block)
{
	struct xc_arms arms = {.open = group->open, .blocks = 1};
	enum xc_confidence confidence;
	int said[XC_ARMS];
	judge_all(e, window, group, block, true, said);
	for (unsigned i = 0; i < group->count; i++)
		if (!group->tagged || !xc_arm_is_out(group, &group->items[i]))
			arms.items[arms.count++] = (struct xc_arm){
				.slot = group->items[i].slot, .yes = said[i] >= YES, .no = said[i] == NO};
	const struct xc_arm *arm = xc_typing_arms_choose(&arms, &confidence);
	return arm ? xc_typing_arm_item(e, arm, xc_block_size(&e->heap->blocks, block), true) : 0;
}

bool xc_typing_arm_holds(const struct xc_engine *e, struct xc_window *window, uint32_t item, uint32_t block)
{
	bool empty;
	uint64_t size = xc_block_size(&e->heap->blocks, block), most = size < XC_WINDOW_COPY ? size : XC_WINDOW_COPY;
	if (e->typing->items[item].shape != XC_TYPED_TEXT)
		return true;
	const uint8_t *bytes = xc_window(window, xc_block_addr(&e->heap->blocks, block), most);
	return bytes && xc_typing_is_text(bytes, most, &empty) && !empty;
}
