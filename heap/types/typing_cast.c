/* typing_cast: what plugins know about pointers, as slots (claim.h: rules and headers).
 *
 * A rule is a cast that typing applies to every object of a type: `ptr` of a redisObject is a `dict *` if
 * `encoding` is 2. So a slot with casts is not one pointer but several, and the object's own bytes select one. Each
 * cast is a slot of its own, with its own learned rules. Names are looked up once, before types flow. A name can
 * denote several types of a program (redis and its client library both have a `dict`): a rule applies to those that
 * have its members, and a cast leads to the type that the member is declared with, or else to the one that most
 * rules mention. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/types/ctype.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/name.h"
#include "heap/graph/claim.h"
#include "heap/types/typing_engine.h"

enum { NAMED = 16, STEPS = 1 << 12, DEPTH = 8 };

/* ---- types by name ---- */

/* The definitions of a name, at most NAMED. */
static size_t types_named(struct xc_engine *e, const char *name, const struct xc_type *types[NAMED])
{
	struct xc_definitions found = {0};
	size_t count = 0;
	const struct xc_query query = {.name = xc_name_without_keyword(name), .kinds = XC_NAME_TYPE};
	xc_auto(xc_error_freep) struct xc_error *err = *query.name ? xc_lookup(e->heap->process, &query, &found) : NULL;
	for (size_t i = 0; i < found.count && count < NAMED && !err; i++) {
		const struct xc_type *type = xc_type_get(e->types, &found.items[i].die);
		if (!xc_type_strip(type)->is_declaration)
			types[count++] = type;
	}
	xc_definitions_fini(&found);
	if (count == 0 && xc_ctype_library(e->heap->process, name))
		types[count++] = xc_ctype_library(e->heap->process, name);
	return count;
}

/* ---- members by path ---- */

/* A member of a record, through members without a name. */
static bool find_member(const struct xc_type *record, const char *name, size_t len, struct xc_member *out,
			unsigned *steps, unsigned depth)
{
	size_t count;
	const struct xc_member *members = xc_type_members(record, &count);
	for (size_t i = 0; i < count && (*steps)++ < STEPS; i++) {
		const struct xc_member *member = &members[i];
		if (member->name && !member->base && !member->dynamic && strlen(member->name) == len &&
		    strncmp(member->name, name, len) == 0) {
			*out = *member;
			return true;
		}
		if ((member->name && !member->base) || member->dynamic || depth >= DEPTH)
			continue;
		if (find_member(xc_type_strip(member->type), name, len, out, steps, depth + 1)) {
			out->offset += member->offset;
			return true;
		}
	}
	return false;
}

/* "v.val": its type and its offset in the record. */
static bool follow_path(const struct xc_type *record, const char *path, struct xc_member *out)
{
	uint64_t offset = 0;
	const struct xc_type *at = xc_type_strip(record);
	for (int depth = 0; depth < DEPTH; depth++) {
		size_t len = strcspn(path, ".");
		unsigned steps = 0;
		if (!find_member(at, path, len, out, &steps, 0))
			return false;
		offset += out->offset;
		out->offset = offset;
		if (!path[len])
			return offset <= UINT32_MAX;
		at = xc_type_strip(out->type);
		path += len + 1;
	}
	return false;
}

static bool tag_by(const struct xc_type *record, const char *path, struct xc_tag *tag)
{
	struct xc_member member;
	uint64_t size;
	*tag = (struct xc_tag){0};
	if (!path)
		return true;
	if (!follow_path(record, path, &member) || !xc_type_size(member.type, &size) || size == 0 || size > 8 ||
	    member.bit_offset + member.bit_size > 64)
		return false;
	uint64_t bytes = member.bit_size ? (member.bit_offset + member.bit_size + 7u) / 8 : size;
	*tag = (struct xc_tag){.at = (uint32_t)member.offset,
			       .size = (uint8_t)bytes,
			       .shift = member.bit_offset,
			       .bits = (uint8_t)(member.bit_size ? member.bit_size : size * 8)};
	return true;
}

/* ---- rules of records ---- */

/* A member with rules, in a type that has it. */
struct xc_cast_member {
	uint32_t record, variant; /* map of the bare type */
	uint32_t offset;
	struct xc_tag tag; /* in the record */
	const struct xc_type *declared;
	const struct xc_claim_rule **rules;
	size_t rule_count, rule_capacity;
	struct xc_cast_target *targets; /* one for each rule */
};

struct xc_cast_target {
	uint32_t map; /* XC_NO_MAP: not a pointer, or a pointer to an unknown type */
	bool is_pointer;
	const struct xc_header_set *headers;
};

struct xc_cast_rules {
	struct xc_cast_member *members;
	size_t count, capacity;
};

static struct xc_cast_member *member_of(struct xc_cast_rules *c, uint32_t record, uint32_t variant, uint32_t offset)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->members[i].record == record && c->members[i].variant == variant &&
		    c->members[i].offset == offset)
			return &c->members[i];
	c->members = xc_grow(c->members, c->count, &c->capacity, sizeof *c->members);
	c->members[c->count] = (struct xc_cast_member){.record = record, .variant = variant, .offset = offset};
	return &c->members[c->count++];
}

static void add_rule(struct xc_engine *e, const struct xc_claim_rule *rule, const struct xc_type *type)
{
	struct xc_member field;
	struct xc_tag tag;
	const struct xc_type *record = xc_type_strip(type);
	uint32_t map = xc_typemap_of(e, record);
	if (map == XC_NO_MAP || !follow_path(record, rule->field, &field) || field.bit_size ||
	    !tag_by(record, rule->by, &tag))
		return;
	struct xc_cast_member *m = member_of(e->casts, map, rule->in, (uint32_t)field.offset);
	if (m->rule_count && memcmp(&m->tag, &tag, sizeof tag) != 0)
		return; /* each member is selected by one other member */
	for (size_t i = 0; i < m->rule_count; i++)
		if (m->rules[i] == rule)
			return; /* the same type under another name */
	m->tag = tag;
	m->declared = field.type;
	m->rules = xc_grow(m->rules, m->rule_count, &m->rule_capacity, sizeof(void *));
	m->rules[m->rule_count++] = rule;
}

/* ---- what casts lead to ---- */

/* The final target of pointers, and of arrays of pointers. */
static const struct xc_type *pointee(const struct xc_type *type)
{
	const struct xc_type *at = xc_type_strip(type);
	for (int i = 0; i < XC_TYPE_DEPTH && at->target && (at->kind == XC_TYPE_POINTER || at->kind == XC_TYPE_ARRAY);
	     i++)
		at = xc_type_strip(at->target);
	return at;
}

static size_t rules_about(const struct xc_cast_rules *c, uint32_t map, uint32_t variant)
{
	size_t count = 0;
	for (size_t i = 0; i < c->count; i++)
		count += c->members[i].record == map && c->members[i].variant == variant ? 2
			 : c->members[i].record == map                                   ? 1
											 : 0;
	return count;
}

/* Selects the intended one of the types with a name. */
static const struct xc_type *type_meant(struct xc_engine *e, const char *name, const struct xc_cast_member *m,
					uint32_t variant)
{
	const struct xc_type *types[NAMED], *best = NULL;
	size_t count = types_named(e, name, types), most = 0;
	uint32_t declared = xc_typemap_of(e, pointee(m->declared));
	for (size_t i = 0; i < count; i++) {
		uint32_t map = xc_typemap_of(e, xc_type_strip(types[i]));
		size_t rules = rules_about(e->casts, map, variant);
		if (map != XC_NO_MAP && map == declared)
			return types[i];
		if (!best || rules > most) {
			best = types[i];
			most = rules;
		}
	}
	return best;
}

/* "struct dictEntry **" → the type; NULL if there is none of that name. */
static const struct xc_type *cast_type(struct xc_engine *e, const struct xc_claim_rule *rule,
				       const struct xc_cast_member *m)
{
	const struct xc_process *process = e->heap->process;
	size_t len = strlen(rule->cast), stars = 0;
	for (; len && (rule->cast[len - 1] == '*' || rule->cast[len - 1] == ' '); len--)
		stars += rule->cast[len - 1] == '*';
	const char *name = xc_arena_printf(&e->heap->memory, "%.*s", (int)len, rule->cast);
	const struct xc_type *type =
		strcmp(name, "void") == 0 ? xc_ctype(process, XC_C_VOID) : type_meant(e, name, m, rule->as);
	for (; type && stars && stars < XC_TYPE_DEPTH; stars--)
		type = xc_ctype_derive(process, XC_TYPE_POINTER, type);
	return type;
}

static struct xc_cast_target target_of(struct xc_engine *e, const struct xc_claim_rule *rule,
				       const struct xc_cast_member *m)
{
	struct xc_cast_target target = {0};
	const struct xc_type *type = cast_type(e, rule, m), *bare = type ? xc_type_strip(type) : NULL;
	if (!bare || bare->kind != XC_TYPE_POINTER || xc_type_strip(bare->target)->kind == XC_TYPE_FUNCTION)
		return target;
	target.is_pointer = true;
	target.map = xc_typemap_variant(e, xc_typemap_of(e, bare->target), rule->as);
	target.headers = xc_typing_headers(e, type);
	return target;
}

void xc_typing_find_casts(struct xc_engine *e)
{
	const struct xc_claims *claims = e->heap->claims;
	if (!claims || !(claims->rule_count + claims->header_count))
		return;
	struct xc_cast_rules *c = e->casts = xc_alloc(sizeof *c);
	const struct xc_type *types[NAMED];
	const char *name = NULL;
	size_t count = 0;
	for (size_t i = 0; i < claims->rule_count; i++) {
		const struct xc_claim_rule *rule = &claims->rules[i];
		if (!name || strcmp(name, rule->type) != 0)
			count = types_named(e, rule->type, types); /* rules come in runs of one type */
		name = rule->type;
		for (size_t k = 0; k < count; k++)
			add_rule(e, rule, types[k]);
	}
	for (size_t i = 0; i < c->count; i++) {
		struct xc_cast_member *m = &c->members[i];
		m->targets = xc_arena_alloc(&e->heap->memory, m->rule_count * sizeof *m->targets);
		for (size_t k = 0; k < m->rule_count; k++)
			m->targets[k] = target_of(e, m->rules[k], m);
	}
}

void xc_typing_casts_free(struct xc_engine *e)
{
	for (size_t i = 0; e->casts && i < e->casts->count; i++)
		free(e->casts->members[i].rules);
	if (e->casts)
		free(e->casts->members);
	free(e->casts);
}

/* ---- slots ---- */

static void make_slot(struct xc_engine *e, struct xc_typemap_slot *slot, const struct xc_cast_target *target)
{
	slot->in_union = slot->ambiguous = false;
	slot->is_cast = true;
	slot->casts = NULL;
	slot->headers = target->headers;
	slot->target = target->map;
	slot->kind = !target->is_pointer             ? XC_SLOT_CODE
		     : target->map == XC_NO_MAP      ? XC_SLOT_VOID
		     : e->maps[target->map]->is_char ? XC_SLOT_CHARS
						     : XC_SLOT_POINTER;
}

static const struct xc_casts *make_casts(struct xc_engine *e, const struct xc_cast_member *m,
					 const struct xc_typemap_slot *slot, uint64_t record_at)
{
	struct xc_casts *casts = xc_arena_alloc(&e->heap->memory, sizeof *casts);
	*casts = (struct xc_casts){.tag = m->tag, .count = (uint32_t)m->rule_count};
	casts->tag.at += (uint32_t)record_at;
	casts->values = xc_arena_alloc(&e->heap->memory, m->rule_count * sizeof *casts->values);
	casts->slots = xc_arena_alloc(&e->heap->memory, m->rule_count * sizeof *casts->slots);
	uint64_t mask = m->tag.bits < 64 ? ((uint64_t)1 << m->tag.bits) - 1 : UINT64_MAX;
	for (size_t i = 0; i < m->rule_count; i++) {
		casts->values[i] = m->tag.size ? m->rules[i]->value & mask : 0;
		casts->slots[i] = *slot;
		make_slot(e, &casts->slots[i], &m->targets[i]);
	}
	return casts;
}

/* A rule for the variant precedes one for all objects. */
static const struct xc_cast_member *next_member(const struct xc_cast_rules *c, size_t *at, uint32_t record,
						uint32_t variant)
{
	for (; *at < c->count; ++*at) {
		const struct xc_cast_member *m = &c->members[*at];
		if (m->record != record || (m->variant && m->variant != variant))
			continue;
		bool better = false;
		for (size_t i = 0; i < c->count && variant && !m->variant; i++)
			better |= c->members[i].record == record && c->members[i].variant == variant &&
				  c->members[i].offset == m->offset;
		if (better)
			continue;
		++*at;
		return m;
	}
	return NULL;
}

void xc_typing_cast(struct xc_engine *e, const struct xc_cast_place *place, xc_cast_slot_fn *slot_at, void *context)
{
	uint32_t record = e->casts && e->casts->count ? xc_typemap_of(e, place->record) : XC_NO_MAP;
	size_t at = 0;
	const struct xc_cast_member *m;
	while (record != XC_NO_MAP && (m = next_member(e->casts, &at, record, place->variant))) {
		struct xc_typemap_slot *slot = slot_at(context, place->offset + m->offset);
		if (slot)
			slot->casts = make_casts(e, m, slot, place->offset);
	}
}

/* ---- headers ---- */

static bool leads_to(const struct xc_type *type, const char *name)
{
	const struct xc_type *at = type;
	for (int i = 0; i < XC_TYPE_DEPTH && at && at->kind >= XC_TYPE_TYPEDEF && at->kind <= XC_TYPE_ATOMIC;
	     i++, at = at->target)
		if (at->kind == XC_TYPE_TYPEDEF && at->name && strcmp(at->name, name) == 0)
			return true;
	return false;
}

static const struct xc_header_set *make_headers(struct xc_engine *e, const char *name)
{
	const struct xc_claims *claims = e->heap->claims;
	struct xc_header_set *made = xc_arena_alloc(&e->heap->memory, sizeof *made);
	for (size_t i = 0; i < claims->header_count && made->count < XC_COUNT(made->items); i++) {
		const struct xc_claim_header *h = &claims->headers[i];
		const struct xc_type *types[NAMED];
		if (strcmp(h->pointer, name) != 0 || types_named(e, h->header, types) == 0)
			continue;
		uint32_t map = xc_typemap_of(e, types[0]);
		if (map == XC_NO_MAP || !e->maps[map]->size)
			continue;
		made->at = h->at;
		made->items[made->count++] = (struct xc_header_case){.map = map, .mask = h->mask, .value = h->value};
	}
	return made;
}

const struct xc_header_set *xc_typing_headers(struct xc_engine *e, const struct xc_type *type)
{
	const struct xc_claims *claims = e->heap->claims;
	for (size_t i = 0; claims && i < claims->header_count; i++) {
		const char *name = claims->headers[i].pointer;
		if (!leads_to(type, name))
			continue;
		void **known = xc_pointer_map_at(&e->headers, &e->heap->memory, name, NULL);
		if (!*known) {
			void *made = (void *)make_headers(e, name);
			known = xc_pointer_map_at(&e->headers, &e->heap->memory, name, NULL);
			*known = made;
		}
		return *known;
	}
	return NULL;
}
