/* recipe: steps are made with paths of members, and followed with offsets alone.
 *
 * Following is limited by what the object can mean: BLOCKS by the number of pointers that fit in a block. */
#include "heap/evidence/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/view/view.h"
#include "dwarf/view/view_part.h"
#include "heap/evidence/nodetype.h"

enum { WORD = 8, MAX_BLOCKS = 1 << 24 };

/* ---- making ---- */

static struct xc_step *add(struct xc_recipe_maker *maker, enum xc_step_kind kind, uint64_t at)
{
	struct xc_recipe *recipe = &maker->recipe;
	if (recipe->count == XC_RECIPE_STEPS || at > UINT32_MAX)
		return NULL;
	struct xc_step *step = &recipe->steps[recipe->count++];
	*step = (struct xc_step){.kind = (uint8_t)kind, .at = (uint32_t)at};
	return step;
}

bool xc_recipe_point_at(struct xc_recipe_maker *maker, uint64_t at, uint32_t item)
{
	struct xc_step *step = item ? add(maker, XC_STEP_POINT, at) : NULL;
	if (step)
		step->item = item;
	return step;
}

bool xc_recipe_point(struct xc_recipe_maker *maker, const char *path, uint32_t item)
{
	uint64_t at;
	return xc_view_offset(maker->type, path, &at) && xc_recipe_point_at(maker, at, item);
}

bool xc_recipe_look(struct xc_recipe_maker *maker, uint64_t at, const struct xc_type *type)
{
	uint32_t object = type ? xc_typing_object(maker->typing, type) : 0;
	struct xc_step *step = object ? add(maker, XC_STEP_LOOK, at) : NULL;
	if (step)
		step->object = object;
	return step;
}

void xc_recipe_room(struct xc_recipe_maker *maker, uint64_t begin, uint64_t end, uint64_t room)
{
	struct xc_step *step = end <= UINT32_MAX && room <= UINT32_MAX ? add(maker, XC_STEP_ROOM, begin) : NULL;
	if (!step)
		return;
	step->end = (uint32_t)end;
	step->tag = (uint32_t)room;
}

void xc_recipe_when(struct xc_recipe_maker *maker, uint64_t tag, uint64_t width, uint64_t lo, uint64_t hi)
{
	struct xc_step *step = &maker->recipe.steps[maker->recipe.count - 1];
	step->tag = (uint32_t)tag;
	step->width = width > WORD ? 0 : (uint8_t)width;
	step->lo = lo;
	step->hi = hi;
}

void xc_recipe_unless(struct xc_recipe_maker *maker, uint64_t tag, uint64_t width, uint64_t lo, uint64_t hi)
{
	xc_recipe_when(maker, tag, width, lo, hi);
	maker->recipe.steps[maker->recipe.count - 1].unless = true;
}

uint32_t xc_recipe_item(struct xc_recipe_maker *maker, const struct xc_type *type, uint8_t shape, uint64_t offset,
			const char *what)
{
	struct xc_text via = {0};
	if (!type)
		return 0;
	if (!xc_view_brief_name(&via, maker->type))
		xc_text_add(&via, xc_type_name(maker->type));
	xc_text_printf(&via, " %s", what);
	const struct xc_typed item = {.type = type,
				      .shape = shape,
				      .confidence = XC_TYPE_STRONG,
				      .offset = offset,
				      .via = xc_text_string(&via)};
	uint32_t number = xc_typing_item(maker->typing, &item);
	xc_text_fini(&via);
	return number;
}

/* ---- erased types ---- */

void xc_erased_add(struct xc_erased_list *list, struct xc_erased one)
{
	list->all = xc_grow(list->all, list->count, &list->capacity, sizeof *list->all);
	list->all[list->count++] = one;
}

static int by_address(const void *a, const void *b)
{
	const struct xc_erased *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void xc_erased_finish(struct xc_erased_list *list, struct xc_heap *heap)
{
	size_t size = list->count * sizeof *list->all;
	struct xc_erased *kept = xc_arena_alloc(&heap->memory, size + 1);
	if (size) {
		qsort(list->all, list->count, sizeof *list->all, by_address);
		memcpy(kept, list->all, size);
	}
	free(list->all);
	list->all = kept;
}

bool xc_recipe_erases(const struct xc_view_shape *shape)
{
	return shape->links && shape->links->kind == XC_LINK_ERASED;
}

/* ---- links of views ---- */

static uint32_t array_item(struct xc_recipe_maker *maker, const struct xc_type *element, const char *what)
{
	return xc_recipe_item(maker, element, XC_TYPED_ARRAY, 0, what);
}

static const struct xc_type *pointer_to(const struct xc_recipe_maker *maker, const struct xc_type *type)
{
	return xc_type_pointer(type, maker->process->arch->word);
}

static bool offset_of(const struct xc_recipe_maker *maker, const char *const paths[], uint64_t *offset_out)
{
	const struct xc_view_shape *shape = maker->shape;
	if (!xc_view_offset_of(shape->part ? shape->part : maker->type, paths, offset_out))
		return false;
	*offset_out += shape->part ? shape->offset : 0;
	return *offset_out <= UINT32_MAX;
}

/* A step of blocks or buckets. */
static void add_range(struct xc_recipe_maker *maker, const struct xc_view_link *link, uint64_t at)
{
	const struct xc_type *element = maker->shape->element;
	uint32_t item = array_item(maker, element, link->what);
	uint64_t by;
	if (!item || !offset_of(maker, link->by, &by))
		return;
	bool buckets = link->kind == XC_LINK_BUCKETS;
	struct xc_step *step = add(maker, buckets ? XC_STEP_BUCKETS : XC_STEP_BLOCKS, at);
	if (!step)
		return;
	step->end = (uint32_t)by;
	step->item = item;
	step->behind = link->words;
	step->size = maker->shape->size;
	if (buckets)
		step->object = xc_recipe_item(maker, element, XC_TYPED_ARRAY, WORD, link->what);
}

static void add_targets(struct xc_recipe_maker *maker, const struct xc_view_link *link, uint64_t at)
{
	const struct xc_type *pointer;
	if (!xc_view_has_of(maker->type, link->at, &pointer))
		return;
	pointer = xc_type_strip(pointer);
	if (pointer->kind != XC_TYPE_POINTER)
		return;
	const struct xc_type *target = xc_type_strip(pointer->target);
	if (target->kind == XC_TYPE_POINTER) /* by the name of the class, not of a typedef */
		target = pointer_to(maker, xc_type_strip(target->target));
	xc_recipe_point_at(maker, at, array_item(maker, target, link->what));
}

static uint32_t node_item(struct xc_recipe_maker *maker, const char *what)
{
	const struct xc_type *type = xc_nodetype(maker->typing, maker->shape);
	return xc_recipe_item(maker, type, XC_TYPED_ONE, 0, what);
}

/* Elements with a destructor follow their number if new[] made them. */
static void add_object(struct xc_recipe_maker *maker, const struct xc_view_link *link, uint64_t at)
{
	const struct xc_type *element = maker->shape->element, *plain = xc_type_strip(element);
	if (plain->kind == XC_TYPE_ARRAY)
		xc_recipe_point_at(maker, at, array_item(maker, plain->target, link->what));
	else if (link->kind == XC_LINK_OBJECT)
		xc_recipe_point_at(maker, at, xc_recipe_item(maker, element, XC_TYPED_ONE, 0, link->what));
	if (plain->kind == XC_TYPE_ARRAY && link->kind == XC_LINK_OWNED)
		xc_recipe_point_at(maker, at, xc_recipe_item(maker, plain->target, XC_TYPED_ARRAY, WORD, link->what));
}

static void add_erased(struct xc_recipe_maker *maker, const struct xc_view_link *link, uint64_t at)
{
	uint64_t by;
	struct xc_step *step = maker->erased && offset_of(maker, link->by, &by) ? add(maker, XC_STEP_ERASED, at) : NULL;
	if (!step)
		return;
	step->end = (uint32_t)by;
	step->erased = maker->erased;
}

static void add_content(struct xc_recipe_maker *maker, const struct xc_view_link *link, uint64_t at)
{
	const struct xc_view_shape *shape = maker->shape;
	uint64_t tag;
	if (!offset_of(maker, link->by, &tag))
		return;
	if (link->kind == XC_LINK_VALUE && xc_recipe_look(maker, at, shape->element))
		xc_recipe_when(maker, tag, 1, 1, 1);
	for (size_t i = 0; link->kind == XC_LINK_VARIANT && i < shape->number && i < XC_RECIPE_STEPS; i++) {
		if (xc_recipe_look(maker, at, xc_view_argument(maker->type, i)))
			xc_recipe_when(maker, tag, shape->size, i, i);
	}
}

static void add_link(struct xc_recipe_maker *maker, const struct xc_view_link *link)
{
	const struct xc_type *element = maker->shape->element;
	uint64_t at;
	if (!offset_of(maker, link->at, &at))
		return;
	if (link->kind == XC_LINK_TEXT)
		xc_recipe_point_at(maker, at,
				   xc_recipe_item(maker, element, XC_TYPED_TEXT, link->words * WORD, link->what));
	else if (link->kind == XC_LINK_ARRAY)
		xc_recipe_point_at(maker, at, array_item(maker, element, link->what));
	else if (link->kind == XC_LINK_TARGETS)
		add_targets(maker, link, at);
	else if (link->kind == XC_LINK_MAP)
		xc_recipe_point_at(maker, at, array_item(maker, pointer_to(maker, element), link->what));
	else if (link->kind == XC_LINK_NODE)
		xc_recipe_point_at(maker, at, node_item(maker, link->what));
	else if (link->kind == XC_LINK_BLOCKS || link->kind == XC_LINK_BUCKETS)
		add_range(maker, link, at);
	else if (link->kind == XC_LINK_OBJECT || link->kind == XC_LINK_OWNED)
		add_object(maker, link, at);
	else if (link->kind == XC_LINK_ERASED)
		add_erased(maker, link, at);
	else
		add_content(maker, link, at);
}

void xc_recipe_links(struct xc_recipe_maker *maker)
{
	for (const struct xc_view_link *link = maker->shape->links; link && link->kind; link++)
		add_link(maker, link);
}

const struct xc_recipe *xc_recipe_made(const struct xc_recipe_maker *maker, bool *only_out)
{
	size_t size = offsetof(struct xc_recipe, steps) + maker->recipe.count * sizeof *maker->recipe.steps;
	if (maker->recipe.count == 0)
		return NULL;
	*only_out = true;
	return memcpy(xc_arena_alloc(&maker->typing->heap->memory, size), &maker->recipe, size);
}

/* ---- following ---- */

static bool number_at(const struct xc_visit *visit, uint64_t at, uint64_t width, uint64_t *number_out)
{
	if (at > visit->size || width > visit->size - at)
		return false;
	*number_out = 0;
	memcpy(number_out, visit->bytes + at, width); /* little-endian, like all of heap/ */
	return true;
}

static bool applies(const struct xc_visit *visit, const struct xc_step *step)
{
	uint64_t tag;
	return step->width == 0 || (number_at(visit, step->tag, step->width, &tag) &&
				    (tag - step->lo <= step->hi - step->lo) != step->unless);
}

static void follow_blocks(struct xc_visit *visit, const struct xc_step *step, uint64_t from)
{
	uint64_t to, block;
	if (!number_at(visit, step->end, WORD, &to) || to < from || (to - from) / WORD > MAX_BLOCKS)
		return;
	to += step->behind * WORD;
	for (xc_addr at = from; at < to && xc_window_word(&visit->window, at, &block); at += WORD)
		xc_typing_propose(visit, block, step->item);
}

/* The elements end where the control bytes begin, aligned to 16; unused room precedes the first element. */
static void follow_buckets(struct xc_visit *visit, const struct xc_step *step, uint64_t end)
{
	uint64_t mask, bytes;
	if (number_at(visit, step->end, WORD, &mask) && mask < UINT64_MAX &&
	    !__builtin_mul_overflow(mask + 1, step->size, &bytes) && bytes <= end)
		xc_typing_propose(visit, end - bytes, bytes % 16 == 0 ? step->item : step->object);
}

static void follow_erased(struct xc_visit *visit, const struct xc_step *step)
{
	struct xc_erased key = {0};
	uint64_t pointer;
	if (!number_at(visit, step->at, WORD, &pointer) || !number_at(visit, step->end, WORD, &key.addr) ||
	    !step->erased->count)
		return;
	const struct xc_erased *found = bsearch(&key, step->erased->all, step->erased->count, sizeof key, by_address);
	if (found && found->item)
		xc_typing_propose(visit, pointer, found->item);
	else if (found)
		xc_typing_look(visit, step->at, found->object);
}

/* What was there before clear() or pop_back() is left in the room. The end of a block is no pointer to the next one. */
static void follow_room(struct xc_visit *visit, const struct xc_step *step, uint64_t begin)
{
	const struct xc_blocks *blocks = &visit->typing->heap->blocks;
	uint64_t end, room;
	uint32_t block = xc_blocks_find(blocks, begin);
	if (!number_at(visit, step->end, WORD, &end) || !number_at(visit, step->tag, WORD, &room) || begin > end ||
	    end > room || block == XC_NO_BLOCK)
		return;
	xc_addr behind = xc_block_addr(blocks, block) + xc_block_size(blocks, block);
	if (room > behind)
		return;
	if (end < room)
		xc_typing_stale(visit, end, room - 1, false);
	if (visit->addr && end == behind)
		xc_typing_stale(visit, visit->addr + step->end, visit->addr + step->end + WORD - 1, true);
	if (visit->addr && room == behind)
		xc_typing_stale(visit, visit->addr + step->tag, visit->addr + step->tag + WORD - 1, true);
}

bool xc_recipe_says_stale(const void *met)
{
	const struct xc_recipe *recipe = met;
	for (size_t i = 0; i < recipe->count; i++)
		if (recipe->steps[i].kind == XC_STEP_ROOM)
			return true;
	return false;
}

void xc_recipe_follow(struct xc_visit *visit, const void *met)
{
	const struct xc_recipe *recipe = met;
	for (size_t i = 0; i < recipe->count; i++) {
		const struct xc_step *step = &recipe->steps[i];
		uint64_t word;
		if (!applies(visit, step))
			continue;
		if (step->kind == XC_STEP_LOOK)
			xc_typing_look(visit, step->at, step->object);
		else if (step->kind == XC_STEP_ERASED)
			follow_erased(visit, step);
		else if (!number_at(visit, step->at, WORD, &word) || word == 0)
			continue;
		else if (step->kind == XC_STEP_POINT)
			xc_typing_propose(visit, word, step->item);
		else if (step->kind == XC_STEP_ROOM)
			follow_room(visit, step, word);
		else if (step->kind == XC_STEP_BLOCKS)
			follow_blocks(visit, step, word);
		else
			follow_buckets(visit, step, word);
	}
}
