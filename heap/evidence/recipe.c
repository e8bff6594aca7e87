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

void xc_recipe_ends(struct xc_recipe_maker *maker, uint64_t map, uint64_t start, uint64_t finish)
{
	struct xc_step *step = start <= UINT32_MAX && finish <= UINT32_MAX ? add(maker, XC_STEP_ENDS, map) : NULL;
	if (!step)
		return;
	step->tag = (uint32_t)start;
	step->end = (uint32_t)finish;
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

/* What was removed stays in its bucket. The control byte of one without an element has its highest bit set; bucket i
 * lies below the control bytes, which begin at `end`. */
static void empty_buckets(struct xc_visit *visit, const struct xc_step *step, uint64_t end, uint64_t count)
{
	uint64_t from = count; /* the first one of a run; count: none */
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *control = xc_window(&visit->window, end + i, 1);
		bool empty = control && (*control & 0x80);
		from = empty && from == count ? i : from;
		if (from == count || (empty && i + 1 < count))
			continue;
		uint64_t stop = empty ? i + 1 : i;
		xc_typing_stale(visit, end - stop * step->size, end - from * step->size - 1, XC_STALE_BUCKET);
		from = count;
	}
}

/* The elements end where the control bytes begin, aligned to 16; unused room precedes the first element. */
static void follow_buckets(struct xc_visit *visit, const struct xc_step *step, uint64_t end)
{
	uint64_t mask, bytes;
	if (!number_at(visit, step->end, WORD, &mask) || mask == UINT64_MAX ||
	    __builtin_mul_overflow(mask + 1, step->size, &bytes) || bytes > end)
		return;
	uint32_t block = xc_blocks_find(&visit->typing->heap->blocks, end);
	xc_typing_propose(visit, end - bytes, bytes % 16 == 0 ? step->item : step->object);
	if (block != XC_NO_BLOCK && xc_typing_wants_stale(visit) &&
	    end - bytes >= xc_block_addr(&visit->typing->heap->blocks, block))
		empty_buckets(visit, step, end, mask + 1);
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

/* Of the room from `begin` up to `room`, in one block, only `from` up to `to` has elements: what was there before
 * clear() or a pop is left in the rest, or what the allocator's last user left there. Returns the block's end; 0: there
 * is no such room. */
static xc_addr part_is_used(struct xc_visit *visit, xc_addr begin, xc_addr from, xc_addr to, xc_addr room)
{
	const struct xc_blocks *blocks = &visit->typing->heap->blocks;
	uint32_t block = xc_blocks_find(blocks, begin);
	if (block == XC_NO_BLOCK || begin > from || from > to || to > room)
		return 0;
	xc_addr addr = xc_block_addr(blocks, block), behind = addr + xc_block_size(blocks, block);
	if (room > behind)
		return 0;
	if (begin < from)
		xc_typing_stale(visit, begin, from - 1, XC_STALE_ROOM);
	if (to < room)
		xc_typing_stale(visit, to, room - 1, XC_STALE_ROOM);
	if (begin == addr)
		xc_typing_uses(visit, block, from - addr, to - addr);
	return behind;
}

/* The end of a block is no pointer to the next one. */
static void is_end(struct xc_visit *visit, uint64_t at, xc_addr behind)
{
	uint64_t word;
	if (visit->addr && number_at(visit, at, WORD, &word) && word == behind)
		xc_typing_stale(visit, visit->addr + at, visit->addr + at + WORD - 1, XC_STALE_END);
}

static void follow_room(struct xc_visit *visit, const struct xc_step *step, uint64_t begin)
{
	uint64_t end, room;
	if (!number_at(visit, step->end, WORD, &end) || !number_at(visit, step->tag, WORD, &room))
		return;
	xc_addr behind = part_is_used(visit, begin, begin, end, room);
	if (!behind)
		return;
	is_end(visit, step->end, behind);
	is_end(visit, step->tag, behind);
}

static bool deque_end_at(const struct xc_visit *visit, uint64_t at, struct xc_deque_end *end)
{
	return number_at(visit, at + offsetof(struct xc_deque_end, cur), WORD, &end->cur) &&
	       number_at(visit, at + offsetof(struct xc_deque_end, first), WORD, &end->first) &&
	       number_at(visit, at + offsetof(struct xc_deque_end, last), WORD, &end->last) &&
	       number_at(visit, at + offsetof(struct xc_deque_end, node), WORD, &end->node);
}

static void node_is_used(struct xc_visit *visit, const struct xc_deque_end *end, xc_addr from, xc_addr to, uint64_t at)
{
	xc_addr behind = part_is_used(visit, end->first, from, to, end->last);
	if (behind)
		is_end(visit, at + offsetof(struct xc_deque_end, last), behind);
}

static void follow_ends(struct xc_visit *visit, const struct xc_step *step, uint64_t map)
{
	const struct xc_blocks *blocks = &visit->typing->heap->blocks;
	uint32_t block = xc_blocks_find(blocks, map);
	struct xc_deque_end start, finish;
	if (!deque_end_at(visit, step->tag, &start) || !deque_end_at(visit, step->end, &finish) ||
	    block == XC_NO_BLOCK || finish.node > UINT64_MAX - WORD)
		return;
	bool one = start.node == finish.node;
	part_is_used(visit, map, start.node, finish.node + WORD,
		     xc_block_addr(blocks, block) + xc_block_size(blocks, block));
	node_is_used(visit, &start, start.cur, one ? finish.cur : start.last, step->tag);
	node_is_used(visit, &finish, one ? start.cur : finish.first, finish.cur, step->end);
}

bool xc_recipe_says_stale(const void *met)
{
	const struct xc_recipe *recipe = met;
	for (size_t i = 0; i < recipe->count; i++)
		if (recipe->steps[i].kind == XC_STEP_ROOM || recipe->steps[i].kind == XC_STEP_ENDS ||
		    recipe->steps[i].kind == XC_STEP_BUCKETS)
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
		else if (step->kind == XC_STEP_ENDS)
			follow_ends(visit, step, word);
		else if (step->kind == XC_STEP_BLOCKS)
			follow_blocks(visit, step, word);
		else
			follow_buckets(visit, step, word);
	}
}
