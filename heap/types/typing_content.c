/* typing_content: types blocks that no typed pointer leads to: leaked ones, and those whose root the compiler does
 * not describe.
 *
 * The content is compared with the program's own types of that size. A type must explain all pointers in the block, and
 * must find pointers where it has some, and its tag must be one that certain objects of the type have. If two types do
 * so, the block remains untyped. The resulting types are weak. */
#include "heap/types/typing_map.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, KEPT = 6, AGAINST = 3, CLASSES = 1 << 16, MANY = 16, COMPARISON = 64, TAGS = 64, ALIKE = 8 };

/* Types times sizes times samples may be too many, so this many slots are compared; each comparison costs its slots
 * and COMPARISON. Sizes with the most blocks come first. redis takes a hundredth of this. */
#define EFFORT (UINT64_C(1) << 30)

/* Blocks of one size. */
struct class
{
	uint64_t size;
	uint32_t samples[SAMPLES];
	unsigned sample_count;
	uint64_t count, step; /* one of `step` is a sample */
	uint32_t kept[KEPT];  /* maps */
	unsigned kept_count;
	uint32_t only; /* map: nearly all samples agree with it and with no other */
	bool alone;    /* entry 0 is the type of nearly all: also of blocks without evidence */
};

struct classes {
	struct xc_engine *engine;
	struct class *items;
	size_t count, capacity;
	struct xc_hashtable numbers; /* by (size, 1) */
	struct xc_hashtable tags;    /* of certain objects: those of a type, and facts about them */
	uint64_t left;               /* left of EFFORT */
	struct xc_window window;
};

static struct class *class_of(struct classes *c, uint64_t size, bool add)
{
	const union xc_hashtable_value *known = xc_hashtable_find(&c->numbers, size, 1);
	if (known)
		return &c->items[known->number];
	if (!add || c->count >= CLASSES)
		return NULL;
	xc_hashtable_at(&c->numbers, NULL, size, 1)->number = c->count;
	c->items = xc_grow(c->items, c->count, &c->capacity, sizeof *c->items);
	c->items[c->count] = (struct class){.size = size, .step = 1};
	return &c->items[c->count++];
}

static bool is_orphan(const struct xc_engine *e, uint32_t block)
{
	return !e->typing->by_block[block] && !xc_block_is_free(xc_block_state(&e->heap->blocks, block));
}

/* Samples come from all of the heap: if there is no room, every second one is dropped. */
static void take_sample(struct class *class, uint32_t block)
{
	if (class->count++ % class->step)
		return;
	if (class->sample_count == SAMPLES) {
		for (unsigned i = 0; i < SAMPLES / 2; i++)
			class->samples[i] = class->samples[i * 2];
		class->sample_count = SAMPLES / 2;
		class->step *= 2;
		if ((class->count - 1) % class->step)
			return;
	}
	class->samples[class->sample_count++] = block;
}

static void take_samples(struct classes *c)
{
	struct xc_engine *e = c->engine;
	for (size_t block = 0; block < e->heap->blocks.count; block++) {
		if (!is_orphan(e, (uint32_t)block))
			continue;
		struct class *class = class_of(c, xc_block_size(&e->heap->blocks, (uint32_t)block), true);
		if (class)
			take_sample(class, (uint32_t)block);
	}
}

/* ---- tags ---- */

enum { TAKEN, DIFFERENT, TAG_FACTS }; /* of a type: objects whose tags are known, and the number of their values */

static void take_tag(struct classes *c, uint32_t block, uint32_t number)
{
	const struct xc_typemap *map = c->engine->maps[number];
	union xc_hashtable_value *taken = xc_hashtable_at(&c->tags, NULL, number, TAKEN);
	if (taken->number >= TAGS || !xc_tag_within(&map->tag, map->size) || map->size > XC_WINDOW_COPY)
		return;
	const uint8_t *bytes = xc_window(&c->window, xc_block_addr(&c->engine->heap->blocks, block), map->size);
	if (!bytes)
		return;
	taken->number++;
	union xc_hashtable_value *value =
		xc_hashtable_at(&c->tags, NULL, xc_tag_of(&map->tag, bytes), TAG_FACTS + (uint64_t)number);
	if (!value->number++)
		xc_hashtable_at(&c->tags, NULL, number, DIFFERENT)->number++;
}

/* Takes the tags of some certain objects of each type that has one. */
static void take_tags(struct classes *c)
{
	const struct xc_engine *e = c->engine;
	for (size_t block = 0; block < e->heap->blocks.count; block++) {
		uint32_t item = xc_code_item(e->typing->by_block[block]), number = e->facts[item].map;
		const struct xc_typed *typed = &e->typing->items[item];
		if (item && e->maps[number]->tag.size && typed->confidence > XC_TYPE_WEAK && !typed->offset)
			take_tag(c, (uint32_t)block, number);
	}
}

/* Do the certain objects of the type have a few tags, and not the block's? */
static bool has_strange_tag(struct classes *c, uint32_t number, uint32_t block)
{
	const struct xc_typemap *map = c->engine->maps[number];
	const union xc_hashtable_value *taken = xc_hashtable_find(&c->tags, number, TAKEN),
				       *different = xc_hashtable_find(&c->tags, number, DIFFERENT);
	if (!taken || !different || taken->number < MANY || different->number * ALIKE > taken->number)
		return false;
	const uint8_t *bytes = xc_window(&c->window, xc_block_addr(&c->engine->heap->blocks, block), map->size);
	return bytes && !xc_hashtable_find(&c->tags, xc_tag_of(&map->tag, bytes), TAG_FACTS + (uint64_t)number);
}

/* ---- values ---- */

/* How well a type explains a block; 0 if all evidence may be chance. *most_out: the same, if its unions are what they
 * may be. */
static int64_t value_of(struct classes *c, uint32_t map, uint32_t block, bool *agrees_out, int64_t *most_out)
{
	struct xc_score score = {.deep = true};
	if (has_strange_tag(c, map, block)) {
		*agrees_out = false;
		return *most_out = 0;
	}
	xc_typing_score(c->engine, &c->window, map, XC_TYPED_ONE, 0, block, &score);
	int64_t value = (int64_t)score.good - AGAINST * (int64_t)score.bad;
	*agrees_out = value > 0 && score.bad == 0;
	*most_out = score.maybe || score.sure || value < 0 ? value + score.maybe : 0;
	uint64_t effort = score.looked + COMPARISON;
	c->left -= effort < c->left ? effort : c->left;
	return score.sure || value < 0 ? value : 0;
}

struct ranking {
	int64_t values[KEPT];
	bool maybe[KEPT];           /* it may explain some sample, by its unions */
	uint32_t explained[KEPT];   /* samples */
	uint32_t agreed, may_agree; /* samples that agree with the best type; and if its unions are what they may be */
	uint32_t next_may_agree;    /* of another type */
	uint32_t agreed_map;
};

/* How well a type explains the samples; the best comes first. */
static void rank(struct classes *c, struct class *class, struct ranking *r, uint32_t number)
{
	struct xc_engine *e = c->engine;
	int64_t value = 0, most;
	uint32_t explained = 0, agreed = 0, may_agree = 0;
	bool agrees;
	xc_typemap_compile(e, number);
	for (unsigned k = 0; k < class->sample_count && e->maps[number]->pointers && c->left; k++) {
		int64_t one = value_of(c, number, class->samples[k], &agrees, &most);
		agreed += agrees;
		value += one > 0 ? one : 0;
		explained += one > 0;
		may_agree += agrees || most > 0;
	}
	uint32_t other = agreed > r->agreed ? r->may_agree : may_agree;
	r->next_may_agree = other > r->next_may_agree ? other : r->next_may_agree;
	if (agreed > r->agreed) {
		r->agreed = agreed;
		r->may_agree = may_agree;
		r->agreed_map = number;
	}
	unsigned at = class->kept_count < KEPT ? class->kept_count++ : KEPT;
	for (; at > 0 && r->values[at - 1] < value; at--) {
		if (at == KEPT)
			continue;
		r->values[at] = r->values[at - 1];
		r->maybe[at] = r->maybe[at - 1];
		r->explained[at] = r->explained[at - 1];
		class->kept[at] = class->kept[at - 1];
	}
	if (at == KEPT)
		return;
	r->values[at] = value;
	r->maybe[at] = may_agree > 0;
	r->explained[at] = explained;
	class->kept[at] = number;
}

static bool is_candidate(const struct xc_engine *e, uint32_t number)
{
	struct xc_typemap *map = e->maps[number];
	return map->bare->kind != XC_TYPE_UNION && !map->is_part && !map->is_header && xc_typemap_is_own(map);
}

static bool take_look(struct classes *c)
{
	c->left -= c->left > 0;
	return c->left > 0;
}

static void choose(struct classes *c, struct class *class)
{
	struct xc_engine *e = c->engine;
	struct ranking r = {0};
	size_t count;
	uint64_t size = class->size, least = size > 64 ? size - size / 4 : size > 40 ? size - 40 : 1;
	const uint32_t *maps = xc_type_index_sized(e, least, size, &count);
	for (size_t i = 0; i < count && size < XC_WINDOW_COPY && take_look(c); i++)
		if (xc_typing_fits(e, e->maps[maps[i]]->size, size) && is_candidate(e, maps[i]))
			rank(c, class, &r, maps[i]);
	maps = xc_type_index_flexible(e, &count);
	for (size_t i = 0; i < count && size < XC_WINDOW_COPY && take_look(c); i++)
		if (e->maps[maps[i]]->size <= size && is_candidate(e, maps[i]))
			rank(c, class, &r, maps[i]);
	if (!c->left) { /* others might have explained it better */
		class->kept_count = 0;
		e->cut = true;
		return;
	}
	if (class->sample_count >= MANY && r.agreed * 20 >= class->sample_count * 19 &&
	    r.next_may_agree * 2 < class->sample_count)
		class->only = r.agreed_map;
	while (class->kept_count && r.values[class->kept_count - 1] <= 0 && !r.maybe[class->kept_count - 1])
		class->kept_count--;
	class->alone = class->kept_count && r.values[0] > 0 && r.values[1] <= 0 && class->sample_count >= 4 &&
		       r.explained[0] * 4 >= class->sample_count * 3;
}

/* The only type that explains the block; XC_NO_MAP if there is none, or if another does equally well, or may do. */
static uint32_t best_of(struct classes *c, const struct class *class, uint32_t block)
{
	uint32_t best = XC_NO_MAP;
	int64_t most = 0, second = 0, with, best_with = 0, other_with = 0;
	bool agrees;
	if (class->only) {
		value_of(c, class->only, block, &agrees, &with);
		return agrees ? class->only : XC_NO_MAP;
	}
	for (unsigned i = 0; i < class->kept_count; i++) {
		int64_t value = value_of(c, class->kept[i], block, &agrees, &with);
		bool is_best = value > most;
		int64_t loser = is_best ? best_with : with;
		second = is_best ? most : value > second ? value : second;
		other_with = loser > other_with ? loser : other_with;
		if (!is_best)
			continue;
		most = value;
		best = class->kept[i];
		best_with = with;
	}
	if (class->alone && most == 0)
		return value_of(c, class->kept[0], block, &agrees, &with) == 0 ? class->kept[0] : XC_NO_MAP;
	return most > second && best_with > other_with ? best : XC_NO_MAP;
}

static int by_blocks(const void *a, const void *b, void *context)
{
	const struct classes *c = context;
	const struct class *x = &c->items[*(const uint32_t *)a], *y = &c->items[*(const uint32_t *)b];
	return x->count != y->count ? (x->count > y->count ? -1 : 1) : x->size < y->size ? -1 : x->size > y->size;
}

static void choose_all(struct classes *c)
{
	xc_auto(xc_freep) uint32_t *order = xc_alloc((c->count + 1) * sizeof *order);
	for (size_t i = 0; i < c->count; i++)
		order[i] = (uint32_t)i;
	if (c->count)
		qsort_r(order, c->count, sizeof *order, by_blocks, c);
	for (size_t i = 0; i < c->count && c->left; i++)
		choose(c, &c->items[order[i]]);
}

bool xc_typing_guess_by_content(struct xc_engine *e)
{
	struct classes c = {.engine = e, .left = EFFORT};
	bool found = false;
	xc_window_init(&c.window, e->heap->process->space);
	take_tags(&c);
	take_samples(&c);
	choose_all(&c);
	for (size_t block = 0; block < e->heap->blocks.count; block++) {
		if (!is_orphan(e, (uint32_t)block))
			continue;
		struct class *class = class_of(&c, xc_block_size(&e->heap->blocks, (uint32_t)block), false);
		uint32_t map = class ? best_of(&c, class, (uint32_t)block) : XC_NO_MAP;
		if (map == XC_NO_MAP)
			continue;
		struct xc_typed what = {
			.type = e->maps[map]->type, .confidence = XC_TYPE_WEAK, .via = "its content and size"};
		xc_typing_seed(e->typing, (uint32_t)block, xc_typing_item(e->typing, &what));
		found = true;
	}
	xc_window_fini(&c.window);
	free(c.items);
	xc_hashtable_fini(&c.numbers);
	xc_hashtable_fini(&c.tags);
	return found;
}
