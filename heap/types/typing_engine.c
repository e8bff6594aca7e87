/* typing_engine: the order of the steps of typing.
 *
 * First come the certain facts: objects that DWARF places, and evidence that is sufficient by itself. Types flow
 * from them as long as pointers agree with sizes and with memory. Then rules are learned from samples of the
 * pointers without a result (typing_rule); they open more blocks, whose pointers are learned from in turn. Weak
 * facts come last. */
#include "heap/types/typing_engine.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"
#include "heap/blocks/allocator.h"
#include "heap/graph/claim.h"

enum { ROUNDS = 24 };

static const struct xc_evidence *const no_evidence[] = {NULL};

/* ---- items ---- */

static uint8_t quality_of(const struct xc_typemap *map, const struct xc_typed *what)
{
	if (what->confidence <= XC_TYPE_WEAK)
		return map->variant ? 2 : what->shape == XC_TYPED_TEXT;
	if (map->variant)
		return 3;
	if (!map->is_record)
		return 0;
	return what->shape == XC_TYPED_ARRAY ? 1 : 2;
}

static uint32_t add_item(struct xc_engine *e, uint32_t map, const struct xc_typed *what)
{
	struct xc_typing *typing = e->typing;
	if (typing->item_count >= typing->item_most) {
		typing->refused++;
		return 0;
	}
	typing->items = xc_grow(typing->items, typing->item_count, &typing->item_capacity, sizeof *typing->items);
	e->facts = xc_grow(e->facts, typing->item_count, &e->fact_capacity, sizeof *e->facts);
	uint32_t item = (uint32_t)typing->item_count++;
	typing->items[item] = *what;
	e->facts[item] = (struct xc_item_facts){.map = map, .weak = item, .quality = quality_of(e->maps[map], what)};
	return item;
}

bool xc_typing_has_room(struct xc_engine *e, size_t count)
{
	struct xc_typing *typing = e->typing;
	bool room = typing->item_count < typing->item_most && count <= typing->item_most - typing->item_count;
	typing->refused += room ? 0 : count;
	return room;
}

uint32_t xc_typing_new_item(struct xc_engine *e, uint32_t map, const struct xc_typed *what)
{
	return add_item(e, map, what);
}

uint32_t xc_typing_item(struct xc_typing *typing, const struct xc_typed *what)
{
	struct xc_engine *e = typing->state;
	uint32_t map = what->type ? xc_typemap_of(e, what->type) : XC_NO_MAP;
	struct xc_typed made = *what, weak;
	if (map == XC_NO_MAP)
		return 0;
	made.type = e->maps[map]->type;
	uintptr_t known = (uintptr_t)*xc_pointer_map_at(&e->known_items, &e->heap->memory, e->maps[map], NULL);
	for (uint32_t at = (uint32_t)known; at; at = e->facts[at].next) {
		const struct xc_typed *have = &typing->items[at];
		if (have->shape == made.shape && have->confidence == made.confidence && have->offset == made.offset &&
		    strcmp(have->via, made.via ? made.via : "") == 0)
			return at;
	}
	made.via = xc_arena_strdup(&e->heap->memory, made.via ? made.via : "");
	weak = made;
	weak.confidence = XC_TYPE_WEAK;
	uint32_t item = add_item(e, map, &made);
	if (!item)
		return 0;
	if (made.confidence > XC_TYPE_WEAK) {
		uint32_t twin = add_item(e, map, &weak);
		e->facts[item].weak = twin ? twin : item;
	}
	e->facts[item].next = (uint32_t)known;
	*xc_pointer_map_at(&e->known_items, &e->heap->memory, e->maps[map], NULL) = (void *)(uintptr_t)item;
	return item;
}

uint32_t xc_typing_learned_item(struct xc_engine *e, const struct xc_typed *what)
{
	uint32_t item = xc_typing_item(e->typing, what);
	e->facts[item].is_learned = item != 0;
	return item;
}

uint32_t xc_typing_object(struct xc_typing *typing, const struct xc_type *type)
{
	uint32_t map = xc_typemap_of(typing->state, type);
	if (map == XC_NO_MAP || xc_type_strip(type)->kind == XC_TYPE_ARRAY)
		return 0;
	struct xc_engine *e = typing->state;
	xc_typemap_compile(e, map);
	e->objects = xc_grow(e->objects, e->object_count, &e->object_capacity, sizeof *e->objects);
	e->objects[e->object_count++] = map;
	return map;
}

bool xc_typing_has(const struct xc_typing *typing, uint32_t block)
{
	return typing->by_block[block] != 0;
}

const struct xc_type *xc_typing_find_type(struct xc_typing *typing, const char *name, uint64_t size)
{
	struct xc_engine *e = typing->state;
	struct xc_definitions found = {0};
	const struct xc_type *best = NULL;
	struct xc_error *err =
		xc_lookup(e->heap->process, &(struct xc_query){.name = name, .kinds = XC_NAME_TYPE}, &found);
	for (size_t i = 0; i < found.count && !best; i++) {
		const struct xc_type *type = xc_type_get(e->types, &found.items[i].die);
		uint64_t has;
		if (!type->is_declaration && xc_type_size(type, &has) && (!size || has == size))
			best = type;
	}
	xc_definitions_fini(&found);
	xc_error_free(err);
	return best;
}

/* ---- sizes ---- */

bool xc_typing_fits(const struct xc_engine *e, uint64_t wanted, uint64_t size)
{
	if (wanted > size || wanted == 0)
		return false;
	if (e->allocator && e->allocator->fits)
		return e->allocator->fits(wanted, size, e->word);
	return size - wanted < 16 || size - wanted <= size / 5;
}

bool xc_typing_may_fit(const struct xc_engine *e, uint64_t wanted, uint64_t size)
{
	return xc_typing_fits(e, wanted, size) ||
	       (wanted <= size && wanted != 0 && e->allocator && e->allocator->may_fit &&
		e->allocator->may_fit(wanted, size, e->word));
}

bool xc_typing_count_sure(const struct xc_typing *typing, uint32_t block)
{
	const struct xc_typed *typed = xc_typing_get(typing, block);
	const struct xc_blocks *blocks = &typing->heap->blocks;
	uint64_t element, count = xc_typing_count(typing, block);
	if (!typed || typed->shape != XC_TYPED_ARRAY || count < 2 || !xc_type_size(typed->type, &element) ||
	    element < 2 || xc_claim_is_piece(typing->heap, block))
		return true;
	return !xc_typing_may_fit(typing->state, typed->offset + (count - 1) * element, xc_block_size(blocks, block));
}

/* ---- all steps ---- */

static struct xc_engine *new_engine(struct xc_heap *heap, struct xc_typing *typing)
{
	struct xc_engine *e = xc_alloc(sizeof *e);
	e->typing = typing;
	e->heap = heap;
	e->types = xc_types_of(heap->process);
	e->evidence = heap->evidence ? heap->evidence : no_evidence;
	e->allocator = heap->part_count == 1 ? heap->parts[0].allocator : NULL;
	e->word = heap->process->arch->word == 4 ? 4 : 8;
	e->map_count = 1;
	e->maps = xc_grow(e->maps, 0, &e->map_capacity, sizeof *e->maps);
	e->maps[0] = xc_arena_alloc(&heap->memory, sizeof **e->maps);
	e->maps[0]->compiled = true;
	typing->state = e;
	typing->heap = heap;
	typing->item_most = heap->most_items ? heap->most_items : XC_TYPING_MOST;
	typing->memory = xc_reserve_new(heap->blocks.count, sizeof *typing->by_block);
	typing->by_block = typing->memory.items;
	add_item(e, XC_NO_MAP, &(struct xc_typed){.via = ""});
	xc_typing_flow_init(e);
	return e;
}

static void free_engine(struct xc_engine *e)
{
	xc_typing_flow_fini(e);
	for (size_t i = 0; i < e->map_count; i++)
		free(e->maps[i]->slots);
	xc_typing_rules_free(e);
	xc_typing_casts_free(e);
	xc_type_index_free(e);
	free(e->maps);
	xc_hashtable_fini(&e->by_key);
	free(e->facts);
	free(e->roots);
	free(e->objects);
	free(e);
}

static void flow_from_all(struct xc_engine *e)
{
	for (size_t i = 0; e->evidence[i]; i++)
		if (e->evidence[i]->seed)
			e->evidence[i]->seed(e->typing);
	xc_typing_visit_roots(e);
	xc_typing_flow(e);
}

static void learn(struct xc_engine *e)
{
	for (int round = 0; round < ROUNDS && xc_typing_learn(e); round++)
		xc_typing_visit_again(e, true);
}

void xc_typing_flow_again(struct xc_engine *e)
{
	for (size_t i = 0; i < e->heap->blocks.count; i++)
		if (e->facts[e->final[i]].is_seed)
			xc_typing_seed(e->typing, (uint32_t)i, e->final[i]);
	xc_typing_visit_roots(e);
	xc_typing_flow(e);
}

static void decode(struct xc_typing *typing)
{
	for (size_t i = 0; i < typing->heap->blocks.count; i++)
		typing->by_block[i] = xc_code_item(typing->by_block[i]);
}

static void ask_late(struct xc_engine *e)
{
	for (size_t i = 0; e->evidence[i]; i++)
		if (e->evidence[i]->late)
			e->evidence[i]->late(e->typing);
	xc_typing_flow(e);
}

/* Withdraws what has no source any more. What is left without a type may be a text nevertheless. */
static void withdraw(struct xc_engine *e)
{
	const struct xc_claims *claims = e->heap->claims;
	bool by_rules = claims && claims->rule_count; /* of plugins: flowing again does not follow all of them yet */
	if (e->changed && !by_rules)
		xc_typing_drop_unsupported(e);
	if (xc_typing_drop_beginnings(e) || e->changed)
		ask_late(e);
}

static void work_out(struct xc_engine *e)
{
	const struct xc_type *bytes = xc_typing_find_type(e->typing, "char", 1);
	e->bytes = bytes ? xc_typemap_of(e, bytes) : XC_NO_MAP;
	e->least = XC_TYPE_STRONG;
	xc_type_index_build(e);
	xc_typing_find_casts(e);
	xc_typing_find_roots(e);
	flow_from_all(e);
	learn(e);
	e->least = XC_TYPE_WEAK;
	xc_typing_visit_again(e, false);
	learn(e);
	ask_late(e);
	if (xc_typing_guess_by_content(e)) {
		xc_typing_flow(e);
		learn(e);
	}
	e->last = true;
	xc_typing_visit_again(e, false);
	xc_typing_settle_conflicts(e);
	xc_typing_flow(e);
	withdraw(e);
	decode(e->typing);
	e->decoded = true;
}

struct xc_error *xc_typing_of(struct xc_heap *heap, struct xc_typing **typing_out)
{
	struct xc_error *err = NULL;
	if (!heap->typing) {
		xc_claims_apply(heap);
		struct xc_typing *typing = heap->typing = xc_alloc(sizeof *typing);
		struct xc_engine *e = new_engine(heap, typing);
		bool thorough = e->types->thorough;
		e->types->thorough = true;
		work_out(e);
		e->types->thorough = thorough;
		xc_typing_find_stale(e);
		xc_typing_find_inner(e);
		err = xc_typing_find_misaligned(e);
	}
	*typing_out = heap->typing;
	return err;
}

void xc_typing_free(struct xc_typing *typing)
{
	if (!typing)
		return;
	free_engine(typing->state);
	xc_reserve_free(&typing->memory);
	free(typing->items);
	free(typing);
}
