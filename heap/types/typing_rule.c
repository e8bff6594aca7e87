/* typing_rule: the meaning of ambiguous pointers, learned from samples.
 *
 * Pointers without a result are grouped by their own place (the slot), their target's offset in the block, the size
 * of the block, and the value that distinguishes variants (an enum, a number called kind). Pointers of a group mean
 * the same. Each group has few candidates:
 *
 *	to a base or node inside     types that have one at that offset and fit a block of that size
 *	to a larger block            the same at offset 0; arrays of the pointer's type
 *	void *                       the proposals of other pointers to the same blocks; types of that size
 *	one of a union's pointers    the proposals of each of them (typing_arm)
 *
 * The memory of some blocks of the group decides: pointers must lead to the right targets, and pointers that a
 * candidate does not explain count against it. The decision is a rule for the group. */
#include "heap/types/typing_rule_impl.h"
#include "heap/types/typing_map.h"

#include <stdlib.h>
#include <string.h>

enum { RULES = 1 << 17, CANDIDATES = 96, AGAINST = 3, FEW = 4, MANY = 64 };

struct candidate {
	uint32_t map;
	uint8_t shape;
	bool structural; /* the pointer's own type is part of it */
	bool sibling;    /* blocks of other sizes after the same member are of that type too */
	uint64_t offset;
	struct xc_score score;
	int64_t value;
};

struct candidates {
	struct candidate items[CANDIDATES];
	size_t count;
};

/* ---- groups ---- */

/* The value that distinguishes variants: in the target, else beside the pointer. */
static uint64_t tag_of_hit(const struct xc_engine *e, struct xc_window *window, const struct xc_hit *hit)
{
	const struct xc_typemap *map = e->maps[hit->slot->target];
	if (hit->slot->kind != XC_SLOT_POINTER || hit->slot->ambiguous || !map->tag.size)
		return hit->tag;
	uint64_t need = (uint64_t)map->tag.at + map->tag.size;
	const uint8_t *bytes = xc_window(window, hit->value, need);
	return bytes ? xc_tag_of(&map->tag, bytes) : 0;
}

static uint64_t key_of(const struct xc_engine *e, struct xc_window *window, const struct xc_hit *hit)
{
	uint64_t key = xc_hash_mix(hit->slot->number, hit->offset);
	key = xc_hash_mix(key, xc_block_size(&e->heap->blocks, hit->block));
	key = xc_hash_mix(key, tag_of_hit(e, window, hit));
	return key ? key : 1;
}

static struct xc_rule *find_rule(const struct xc_rules *r, uint64_t key)
{
	const union xc_hashtable_value *number = xc_hashtable_find(&r->numbers, key, 0);
	return number ? &r->rules[number->number] : NULL;
}

static struct xc_rule *add_rule(struct xc_rules *r, uint64_t key, const struct xc_hit *hit)
{
	if (r->count >= RULES)
		return NULL;
	r->rules = xc_grow(r->rules, r->count, &r->capacity, sizeof *r->rules);
	xc_hashtable_at(&r->numbers, NULL, key, 0)->number = r->count;
	struct xc_rule *rule = &r->rules[r->count++];
	*rule = (struct xc_rule){.key = key,
				 .slot = hit->slot,
				 .offset = hit->offset,
				 .kind = tag_of_hit(r->engine, &r->window, hit),
				 .size = xc_block_size(&r->engine->heap->blocks, hit->block)};
	return rule;
}

uint32_t xc_typing_rule(const struct xc_engine *e, struct xc_window *window, const struct xc_hit *hit)
{
	if (!e->rules || !e->rules->count)
		return 0;
	const struct xc_rule *rule = find_rule(e->rules, key_of(e, window, hit));
	if (!rule || !rule->group)
		return rule ? rule->item : 0;
	if (rule->each)
		return xc_typing_arms_of_block(e, window, &e->rules->groups[rule->group - 1], hit->block);
	return xc_typing_arm_holds(e, window, rule->item, hit->block) ? rule->item : 0;
}

/* ---- samples ---- */

static void vote(struct xc_rule *rule, const struct xc_engine *e, uint32_t item)
{
	const struct xc_typed *typed = &e->typing->items[item];
	for (unsigned i = 0; i < rule->vote_count; i++) {
		struct xc_rule_vote *have = &rule->votes[i];
		if (have->map == e->facts[item].map && have->shape == typed->shape && have->offset == typed->offset) {
			have->count++;
			return;
		}
	}
	if (rule->vote_count < XC_RULE_VOTES)
		rule->votes[rule->vote_count++] = (struct xc_rule_vote){
			.map = e->facts[item].map, .count = 1, .shape = typed->shape, .offset = typed->offset};
}

/* The group of a union's pointers: number + 1. With a tag, blocks of all sizes are in it. */
static uint64_t group_of(struct xc_rules *r, const struct xc_hit *hit, uint64_t key)
{
	uint64_t of = hit->slot->tag.size ? xc_hash_mix(hit->slot->number, hit->tag) : key;
	union xc_hashtable_value *number = xc_hashtable_at(&r->numbers, NULL, of, 1);
	if (number->number)
		return number->number;
	r->groups = xc_grow(r->groups, r->group_count, &r->group_capacity, sizeof *r->groups);
	xc_typing_arms_find(r->engine, hit->slot, hit->tag, &r->groups[r->group_count]);
	return number->number = ++r->group_count;
}

static void take_sample(void *context, const struct xc_hit *hit)
{
	struct xc_rules *r = context;
	struct xc_engine *e = r->engine;
	if (hit->item || !hit->slot->pending || hit->slot->is_later_arm)
		return;
	if (hit->slot->kind == XC_SLOT_POINTER)
		xc_typemap_compile(e, hit->slot->target); /* the key needs its tag */
	uint64_t key = key_of(e, &r->window, hit);
	struct xc_rule *rule = find_rule(r, key);
	rule = rule ? rule : add_rule(r, key, hit);
	if (!rule)
		return;
	rule->hits++;
	if (rule->item || rule->each || rule->settled)
		return;
	if (hit->slot->ambiguous && !hit->offset && !rule->group)
		rule->group = group_of(r, hit, key);
	uint32_t item = xc_code_item(e->typing->by_block[hit->block]);
	if (item && e->typing->items[item].confidence >= e->least)
		vote(rule, e, item);
	else if (rule->sample_count < XC_RULE_SAMPLES &&
		 (!rule->sample_count || rule->samples[rule->sample_count - 1] != hit->block))
		rule->samples[rule->sample_count++] = hit->block;
}

/* ---- candidates ---- */

static void add_candidate(struct candidates *c, uint32_t map, uint8_t shape, uint64_t offset, bool structural)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].map == map && c->items[i].shape == shape && c->items[i].offset == offset) {
			c->items[i].structural |= structural;
			return;
		}
	if (map != XC_NO_MAP && c->count < CANDIDATES)
		c->items[c->count++] =
			(struct candidate){.map = map, .shape = shape, .offset = offset, .structural = structural};
}

static void mark_sibling(struct candidates *c, uint32_t map)
{
	for (size_t i = 0; i < c->count; i++)
		c->items[i].sibling |= c->items[i].map == map && c->items[i].shape == XC_TYPED_ONE;
}

static bool could_fill(const struct xc_engine *e, const struct xc_typemap *map, uint64_t size)
{
	return map->size && map->size <= size && (xc_typing_fits(e, map->size, size) || map->has_flexible);
}

static bool array_fills(const struct xc_engine *e, const struct xc_typemap *map, uint64_t size)
{
	return map->size && !map->has_flexible && !map->is_header && size >= 2 * map->size &&
	       xc_typing_fits(e, size / map->size * map->size, size);
}

/* Types that contain the target's type at that offset, and arrays of them. */
static void add_owners(struct candidates *c, struct xc_engine *e, const struct xc_rule *rule)
{
	size_t count;
	const struct xc_type_enclosing *owners = xc_type_index_enclosing(e, rule->slot->target, &count);
	bool chars = rule->slot->kind == XC_SLOT_CHARS, plain = !e->maps[rule->slot->target]->is_record;
	for (size_t i = 0; i < count; i++) {
		struct xc_typemap *outer = e->maps[owners[i].outer];
		bool open = chars && outer->has_flexible && outer->flexible_at == rule->offset;
		if (outer->bare->kind == XC_TYPE_UNION || !outer->size)
			continue;
		if (plain && !open && !xc_typemap_is_own(outer)) /* many of libraries have such numbers */
			continue;
		xc_typemap_compile(e, owners[i].outer);
		if (owners[i].offset == rule->offset && could_fill(e, outer, rule->size))
			add_candidate(c, owners[i].outer, XC_TYPED_ONE, 0, true);
		else if (owners[i].offset == rule->offset % outer->size && array_fills(e, outer, rule->size))
			add_candidate(c, owners[i].outer, XC_TYPED_ARRAY, 0, !plain);
	}
}

static void add_sized(struct candidates *c, struct xc_engine *e, const struct xc_rule *rule)
{
	size_t count;
	uint64_t least = rule->size > 64 ? rule->size - rule->size / 4 : rule->size > 40 ? rule->size - 40 : 1;
	const uint32_t *maps = xc_type_index_sized(e, least, rule->size, &count);
	for (size_t i = 0; i < count; i++)
		if (xc_typing_fits(e, e->maps[maps[i]]->size, rule->size) && xc_typemap_is_own(e->maps[maps[i]]) &&
		    !e->maps[maps[i]]->is_part && e->maps[maps[i]]->bare->kind != XC_TYPE_UNION) {
			xc_typemap_compile(e, maps[i]);
			add_candidate(c, maps[i], XC_TYPED_ONE, 0, false);
		}
}

/* For pointers behind the header of a string: types whose flexible last member begins there. */
static void add_open(struct candidates *c, struct xc_engine *e, const struct xc_rule *rule)
{
	size_t count;
	const uint32_t *maps = xc_type_index_flexible(e, &count);
	for (size_t i = 0; i < count; i++) {
		xc_typemap_compile(e, maps[i]);
		if (e->maps[maps[i]]->has_flexible && e->maps[maps[i]]->flexible_at == rule->offset &&
		    e->maps[maps[i]]->size <= rule->size)
			add_candidate(c, maps[i], XC_TYPED_ONE, 0, true);
	}
}

static void add_pointed(struct candidates *c, struct xc_engine *e, const struct xc_rule *rule,
			const struct xc_typemap_slot *slot)
{
	const struct xc_typemap *map = e->maps[slot->target];
	if (slot->target == XC_NO_MAP || (slot->kind != XC_SLOT_POINTER && slot->kind != XC_SLOT_CHARS))
		return;
	xc_typemap_compile(e, slot->target);
	if (rule->offset == 0 && could_fill(e, map, rule->size))
		add_candidate(c, slot->target, XC_TYPED_ONE, 0, true);
	if (map->size && rule->offset % map->size == 0 && map->size > 1 && array_fills(e, map, rule->size))
		add_candidate(c, slot->target, XC_TYPED_ARRAY, 0, true);
}

/* All pointers that may be at this place. */
static void add_arms(struct candidates *c, struct xc_engine *e, const struct xc_rule *rule)
{
	const struct xc_typemap *owner = e->maps[rule->slot->owner];
	for (uint32_t i = 0; i < owner->slot_count; i++)
		if (owner->slots[i].offset == rule->slot->offset && owner->slots[i].kind <= XC_SLOT_CHARS)
			add_pointed(c, e, rule, &owner->slots[i]);
}

static void find_candidates(struct candidates *c, struct xc_engine *e, const struct xc_rule *rule)
{
	for (unsigned i = 0; i < rule->vote_count; i++)
		add_candidate(c, rule->votes[i].map, rule->votes[i].shape, rule->votes[i].offset, false);
	if (rule->slot->ambiguous) {
		add_arms(c, e, rule);
		return;
	}
	add_pointed(c, e, rule, rule->slot);
	if (rule->offset == 0 && rule->slot->learned && rule->size >= e->maps[rule->slot->learned]->size &&
	    rule->slot->kind == XC_SLOT_VOID) {
		add_candidate(c, rule->slot->learned, XC_TYPED_ONE, 0, false);
		mark_sibling(c, rule->slot->learned);
	}
	if (rule->slot->kind == XC_SLOT_POINTER || (rule->slot->kind == XC_SLOT_CHARS && rule->offset))
		add_owners(c, e, rule);
	else if (rule->offset == 0)
		add_sized(c, e, rule);
	else
		add_open(c, e, rule);
}

/* ---- decisions ---- */

static void compare(struct xc_rules *r, const struct xc_rule *rule, struct candidate *candidate)
{
	candidate->score.deep = true;
	for (unsigned i = 0; i < rule->sample_count; i++)
		xc_typing_score(r->engine, &r->window, candidate->map, candidate->shape, candidate->offset,
				rule->samples[i], &candidate->score);
	if (candidate->sibling && !could_fill(r->engine, r->engine->maps[candidate->map], rule->size))
		candidate->score.bad += candidate->score.loose; /* what it leaves out */
	candidate->value = (int64_t)candidate->score.good - AGAINST * (int64_t)candidate->score.bad;
}

/* Does another one explain more, if its unions are what they may be? */
static bool is_doubtful(const struct candidates *c, const struct candidate *best)
{
	for (size_t i = 0; i < c->count; i++)
		if (!c->items[i].score.bad && c->items[i].value < best->value &&
		    c->items[i].value + c->items[i].score.maybe >= best->value + best->score.maybe)
			return true;
	return false;
}

static bool eligible(const struct candidate *candidate)
{
	/* programs keep pointers to freed memory */
	return candidate->structural ? candidate->score.bad <= candidate->score.good : candidate->value >= 0;
}

static bool votes_for(const struct xc_rule *rule, const struct candidate *candidate)
{
	uint64_t all = 0, own = 0;
	for (unsigned i = 0; i < rule->vote_count; i++) {
		const struct xc_rule_vote *v = &rule->votes[i];
		all += v->count;
		if (v->map == candidate->map && v->shape == candidate->shape && v->offset == candidate->offset)
			own = v->count;
	}
	return own && own * 10 >= all * 9;
}

static bool better(struct xc_engine *e, const struct xc_rule *rule, const struct candidate *a,
		   const struct candidate *b)
{
	bool a_voted = votes_for(rule, a), b_voted = votes_for(rule, b);
	if (a_voted != b_voted)
		return a_voted;
	if (a->value != b->value)
		return a->value > b->value;
	const struct xc_typemap *x = e->maps[a->map], *y = e->maps[b->map];
	if (a->score.loose != b->score.loose)
		return a->score.loose < b->score.loose;
	if (a->shape != b->shape)
		return a->shape == XC_TYPED_ONE;
	if (!a->structural && !x->blocks != !y->blocks)
		return !x->blocks; /* typed pointers lead to objects of the other one */
	return x->size > y->size;
}

/* Two types that begin with the header and are equally good. A fixed size that fits says more than an open end, which
 * fits always. */
static bool are_twins(const struct xc_engine *e, const struct xc_rule *rule, const struct candidate *best,
		      const struct candidate *second)
{
	uint32_t header = rule->slot->target;
	return best->value == second->value && best->score.loose == second->score.loose && best->map != second->map &&
	       best->map != header && second->map != header &&
	       (e->maps[best->map]->has_flexible || !e->maps[second->map]->has_flexible);
}

/* The margin of the best candidate over the second. */
static enum xc_confidence sure(struct xc_engine *e, const struct xc_rule *rule, const struct candidate *best,
			       const struct candidate *second)
{
	enum xc_confidence most = XC_TYPE_STRONG;
	bool clear = !second || best->value > second->value + (int64_t)rule->sample_count / 2 ||
		     (best->value == second->value && best->score.loose * 2 < second->score.loose);
	if (rule->slot->ambiguous && !rule->offset && !votes_for(rule, best))
		return XC_TYPE_UNTYPED;
	if (rule->slot->ambiguous || rule->slot->kind == XC_SLOT_VOID ||
	    (rule->slot->kind == XC_SLOT_CHARS && rule->sample_count < FEW))
		most = XC_TYPE_WEAK; /* it may point into a text */
	if (!second && best->map != rule->slot->target && xc_typing_is_downcast(e, rule) &&
	    !e->maps[rule->slot->target]->tag.size)
		most = XC_TYPE_WEAK; /* by the size alone */
	if (best->structural && !second)
		return best->score.bad * 4 <= best->score.good ? most : XC_TYPE_WEAK;
	if (best->structural && clear && best->score.bad * 8 <= best->score.good)
		return most;
	if (votes_for(rule, best) && best->score.bad * 4 <= best->score.good)
		return XC_TYPE_WEAK;
	if (second && xc_typing_is_downcast(e, rule) && are_twins(e, rule, best, second))
		return XC_TYPE_UNTYPED;
	if (best->structural || (best->sibling && best->score.bad == 0 && best->score.good))
		return XC_TYPE_WEAK;
	if (!second && best->score.bad == 0 && best->score.good >= rule->sample_count && rule->sample_count >= FEW)
		return XC_TYPE_WEAK;
	if (best->score.sure * 2 < rule->sample_count)
		return XC_TYPE_UNTYPED; /* any type has some pointers with targets */
	return clear ? XC_TYPE_WEAK : XC_TYPE_UNTYPED;
}

static uint32_t make_item(struct xc_engine *e, const struct xc_rule *rule, const struct candidate *best,
			  enum xc_confidence confidence)
{
	bool only_first = best->score.used_first && !best->score.used_later; /* then it is no array */
	struct xc_typed what = {.type = e->maps[best->map]->type,
				.shape = only_first ? XC_TYPED_ONE : best->shape,
				.offset = best->offset,
				.confidence = (uint8_t)confidence,
				.via = xc_typemap_via(e, rule->slot)};
	return xc_typing_learned_item(e, &what);
}

uint32_t xc_typing_rule_item(struct xc_engine *e, const struct xc_rule *rule, uint32_t map,
			     enum xc_confidence confidence)
{
	return make_item(e, rule, &(struct candidate){.map = map, .shape = XC_TYPED_ONE}, confidence);
}

/* The only candidate of which there are many blocks already, among those without evidence against them; unless there is
 * more evidence for another one. */
static struct candidate *usual(const struct xc_engine *e, const struct xc_rule *rule, struct candidates *c)
{
	struct candidate *found = NULL;
	if (rule->slot->kind != XC_SLOT_VOID || rule->offset || rule->sample_count < FEW)
		return NULL;
	for (size_t i = 0; i < c->count; i++) {
		struct candidate *at = &c->items[i];
		if (at->score.bad || at->score.good * 2 < rule->sample_count || e->maps[at->map]->blocks < MANY)
			continue;
		if (found)
			return NULL;
		found = at;
	}
	for (size_t i = 0; found && i < c->count; i++)
		if (c->items[i].value > found->value && !c->items[i].score.bad)
			return NULL;
	return found;
}

/* Decides for one of a union's pointers. */
static bool decide_arm(struct xc_rules *r, struct xc_rule *rule)
{
	enum xc_confidence confidence;
	struct xc_arms *group = &r->groups[rule->group - 1];
	const struct xc_arm *arm = xc_typing_arms_choose(group, &confidence);
	if (arm && confidence >= r->engine->least)
		rule->item = xc_typing_arm_item(r->engine, arm, rule->size, confidence == XC_TYPE_WEAK);
	if (!rule->item && r->engine->least <= XC_TYPE_WEAK && !group->open)
		rule->each = group->kept = true;
	rule->slot->taught |= rule->item || rule->each;
	return rule->item || rule->each;
}

static bool decide(struct xc_rules *r, struct xc_rule *rule)
{
	if (rule->group && decide_arm(r, rule))
		return true;
	struct candidates c = {0};
	struct candidate *best = NULL, *second = NULL;
	find_candidates(&c, r->engine, rule);
	for (size_t i = 0; i < c.count; i++) {
		struct candidate *at = &c.items[i];
		compare(r, rule, at);
		if (!eligible(at))
			continue;
		if (!best || better(r->engine, rule, at, best)) {
			second = best;
			best = at;
		} else if (!second || better(r->engine, rule, at, second)) {
			second = at;
		}
	}
	enum xc_confidence confidence = best ? sure(r->engine, rule, best, second) : XC_TYPE_UNTYPED;
	if (confidence == XC_TYPE_WEAK && !best->structural && is_doubtful(&c, best))
		return false;
	if (confidence == XC_TYPE_UNTYPED && (best = usual(r->engine, rule, &c)))
		confidence = XC_TYPE_WEAK;
	if (confidence == XC_TYPE_UNTYPED || confidence < r->engine->least)
		return false;
	rule->item = make_item(r->engine, rule, best, confidence);
	if (rule->item && rule->offset == 0 && best->shape == XC_TYPED_ONE && rule->hits > rule->slot->learned_from) {
		rule->slot->learned = best->map;
		rule->slot->learned_from = rule->hits;
	}
	rule->slot->taught |= rule->item != 0;
	return rule->item != 0;
}

static void hear_group(struct xc_rules *r, const struct xc_rule *rule)
{
	for (unsigned k = 0; rule->group && k < rule->sample_count; k++)
		xc_typing_arms_count(r->engine, &r->window, &r->groups[rule->group - 1], rule->samples[k]);
}

bool xc_typing_learn(struct xc_engine *e)
{
	bool learned = false;
	if (!e->rules) {
		e->rules = xc_alloc(sizeof *e->rules);
		e->rules->engine = e;
		xc_window_init(&e->rules->window, e->heap->process->space);
	}
	struct xc_rules *r = e->rules;
	xc_typemap_count_blocks(e);
	for (size_t i = 0; i < r->count; i++)
		r->rules[i].sample_count = r->rules[i].vote_count = r->rules[i].hits = 0;
	for (size_t i = 0; i < r->group_count; i++)
		xc_typing_arms_forget(&r->groups[i]); /* no earlier rounds */
	xc_typing_each_hit(e, true, take_sample, r);
	for (size_t i = 0; i < r->count; i++)
		hear_group(r, &r->rules[i]);
	for (size_t i = 0; i < r->count; i++)
		if (!r->rules[i].item && r->rules[i].sample_count)
			learned |= decide(r, &r->rules[i]);
	learned |= xc_typing_compare_kinds(r);
	return learned;
}

void xc_typing_rules_free(struct xc_engine *e)
{
	if (!e->rules)
		return;
	xc_window_fini(&e->rules->window);
	free(e->rules->rules);
	free(e->rules->groups);
	xc_hashtable_fini(&e->rules->numbers);
	free(e->rules);
}
