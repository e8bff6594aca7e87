/* typing_kind: objects of one kind have one type.
 *
 * Interpreters link objects of many types by a header that all of them begin with, and a member of the header says
 * which type an object has. typing_rule learns the type of each kind separately for each size and each pointer, mostly
 * from what fits; and a string of any length fits all sizes. So the rules are compared: a type whose objects are nearly
 * all of another kind is not that of a kind whose objects nearly all have another type. A kind's usual type is also
 * that of its blocks for which nothing was learned. */
#include "heap/types/typing_rule_impl.h"

#include <stdlib.h>

enum { FEW = 4, CLEAR = 4, MOST = 9, OF = 10 };

/* Pointers to a header of that kind, in blocks of that type. */
struct tally {
	uint32_t header, map;
	uint64_t kind, hits;
};

struct kinds {
	struct xc_engine *engine;
	struct tally *items;
	size_t count, capacity;
	struct xc_hashtable numbers; /* of tallies, + 1 */
	struct xc_hashtable by_kind; /* that with the most hits, + 1; all hits */
	struct xc_hashtable by_map;
};

enum { USUAL, ALL };

static bool is_of_kind(const struct xc_engine *e, const struct xc_rule *rule)
{
	return xc_typing_is_downcast(e, rule) && e->maps[rule->slot->target]->tag.size;
}

static uint32_t header_of(const struct xc_engine *e, const struct xc_rule *rule)
{
	return e->maps[rule->slot->target]->base;
}

/* The type that a rule gives to its blocks; XC_NO_MAP: none, or not at their beginning. */
static uint32_t map_of(const struct xc_engine *e, const struct xc_rule *rule)
{
	const struct xc_typed *typed = &e->typing->items[rule->item];
	return rule->item && typed->shape == XC_TYPED_ONE && !typed->offset ? e->facts[rule->item].map : XC_NO_MAP;
}

static struct tally *tally_of(struct kinds *k, const struct xc_rule *rule, uint32_t map)
{
	uint32_t header = header_of(k->engine, rule);
	union xc_hashtable_value *at = xc_hashtable_at(&k->numbers, NULL, xc_hash_mix(header, rule->kind), map);
	if (at->number)
		return &k->items[at->number - 1];
	k->items = xc_grow(k->items, k->count, &k->capacity, sizeof *k->items);
	k->items[k->count] = (struct tally){.header = header, .map = map, .kind = rule->kind};
	at->number = ++k->count;
	return &k->items[k->count - 1];
}

static void note_most(struct kinds *k, struct xc_hashtable *table, uint64_t key, size_t number)
{
	union xc_hashtable_value *most = xc_hashtable_at(table, NULL, key, USUAL);
	if (!most->number || k->items[most->number - 1].hits < k->items[number].hits)
		most->number = number + 1;
	xc_hashtable_at(table, NULL, key, ALL)->number += k->items[number].hits;
}

static void count(struct kinds *k, const struct xc_rules *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct xc_rule *rule = &r->rules[i];
		uint32_t map = rule->item && is_of_kind(k->engine, rule) ? map_of(k->engine, rule) : XC_NO_MAP;
		if (map != XC_NO_MAP)
			tally_of(k, rule, map)->hits += rule->hits;
	}
	for (size_t i = 0; i < k->count; i++) {
		note_most(k, &k->by_kind, xc_hash_mix(k->items[i].header, k->items[i].kind), i);
		note_most(k, &k->by_map, xc_hash_mix(k->items[i].header, k->items[i].map), i);
	}
}

static const struct tally *usual_of(const struct kinds *k, const struct xc_hashtable *table, uint64_t key)
{
	const union xc_hashtable_value *most = xc_hashtable_find(table, key, USUAL);
	return most && most->number ? &k->items[most->number - 1] : NULL;
}

/* Gives the usual type of the rule's kind to its blocks, if they have room for it. */
static bool adopt(struct kinds *k, struct xc_rule *rule, const struct tally *usual)
{
	struct xc_engine *e = k->engine;
	const struct xc_typemap *map = e->maps[usual->map];
	bool room = map->size <= rule->size && (map->has_flexible || xc_typing_may_fit(e, map->size, rule->size));
	rule->item = room ? xc_typing_rule_item(e, rule, usual->map, XC_TYPE_WEAK) : 0;
	rule->settled = true;
	rule->slot->taught |= rule->item != 0;
	return rule->item != 0;
}

static bool is_clear(const struct kinds *k, const struct tally *usual)
{
	uint64_t key = xc_hash_mix(usual->header, usual->kind);
	const struct tally *back = usual_of(k, &k->by_map, xc_hash_mix(usual->header, usual->map));
	return back == usual && usual->hits >= FEW &&
	       usual->hits * OF >= xc_hashtable_find(&k->by_kind, key, ALL)->number * MOST;
}

/* A type without a fixed size fits all blocks: a few of a kind are weak. True if there are enough of them by now. */
static bool doubt(const struct xc_engine *e, struct xc_rule *rule, bool few)
{
	uint32_t was = rule->item;
	rule->sure = rule->sure ? rule->sure : rule->item;
	rule->item = few ? e->facts[rule->sure].weak : rule->sure;
	rule->slot->taught |= rule->item != was;
	return rule->item != was;
}

/* Compares what a rule says with what all say. */
static bool compare(struct kinds *k, struct xc_rule *rule)
{
	struct xc_engine *e = k->engine;
	uint32_t header = header_of(e, rule), map = map_of(e, rule);
	const struct tally *usual = usual_of(k, &k->by_kind, xc_hash_mix(header, rule->kind));
	if (!rule->item)
		return usual && rule->hits && e->least <= XC_TYPE_WEAK && is_clear(k, usual) && adopt(k, rule, usual);
	if (map == XC_NO_MAP)
		return false;
	const union xc_hashtable_value *number = xc_hashtable_find(&k->numbers, xc_hash_mix(header, rule->kind), map);
	if (!usual || !number)
		return false; /* the rule has its type since all were counted */
	const struct tally *own = &k->items[number->number - 1],
			   *other = usual_of(k, &k->by_map, xc_hash_mix(header, map));
	if (own != usual && own != other && own->hits * CLEAR <= usual->hits && own->hits * CLEAR <= other->hits) {
		e->changed = true; /* blocks may have the type already */
		return adopt(k, rule, usual);
	}
	return e->maps[map]->has_flexible && doubt(e, rule, own->hits < FEW);
}

bool xc_typing_compare_kinds(struct xc_rules *r)
{
	struct kinds k = {.engine = r->engine};
	bool any = false;
	count(&k, r);
	for (size_t i = 0; i < r->count && k.count; i++)
		if (!r->rules[i].settled && is_of_kind(r->engine, &r->rules[i]))
			any |= compare(&k, &r->rules[i]);
	free(k.items);
	xc_hashtable_fini(&k.numbers);
	xc_hashtable_fini(&k.by_kind);
	xc_hashtable_fini(&k.by_map);
	return any;
}
