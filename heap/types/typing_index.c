/* typing_index: all types of the process, by size and by the types that they contain.
 *
 * A pointer into the middle of a block, to a list node or a base, does not determine the block's type. But few
 * types have such a member at that offset and a size that fits the block. */
#include "heap/types/typing_map.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/lookup/lookup.h"

enum {
	TYPES = 1 << 17,
	HELD = 1 << 20,
	HELD_BY_ONE = 4096,
	STEPS_BY_ONE = 1 << 16, /* members visited: ten members of ten members each, eight deep, are 10^8 */
	STEPS = 1 << 23,        /* of all types: half a second */
	DEPTH = 8,
};

struct xc_type_index {
	struct xc_engine *engine;
	struct xc_type_enclosing *held; /* by inner, then offset, then outer */
	size_t held_count, held_capacity;
	uint32_t *by_size;
	size_t count, capacity;
	uint32_t *flexible;
	size_t flexible_count, flexible_capacity;
	bool own_module;
	uint32_t outer; /* while its members are read */
	size_t held_before, steps_before;
	size_t steps;
};

static void add_held(struct xc_type_index *o, uint32_t inner, uint64_t offset, bool is_base)
{
	if (inner == XC_NO_MAP || offset > UINT32_MAX || o->held_count >= HELD)
		return;
	o->held = xc_grow(o->held, o->held_count, &o->held_capacity, sizeof *o->held);
	o->held[o->held_count++] = (struct xc_type_enclosing){
		.outer = o->outer, .inner = inner, .offset = (uint32_t)offset, .is_base = is_base};
}

static bool may_go_on(struct xc_type_index *o)
{
	o->engine->cut |= o->steps >= STEPS || o->held_count >= HELD;
	return o->held_count < HELD && o->held_count - o->held_before < HELD_BY_ONE && o->steps < STEPS &&
	       o->steps++ - o->steps_before < STEPS_BY_ONE;
}

/* bases: the object at `offset` is one, or it is the whole. */
static void add_members(struct xc_type_index *o, const struct xc_type *bare, uint64_t offset, bool bases,
			unsigned depth)
{
	size_t count;
	const struct xc_member *members = xc_type_members(bare, &count);
	for (size_t i = 0; i < count && depth < DEPTH && may_go_on(o); i++) {
		const struct xc_type *type = xc_type_strip(members[i].type);
		bool array = type->kind == XC_TYPE_ARRAY;
		if (members[i].bit_size || members[i].dynamic)
			continue;
		for (unsigned k = 0; k < DEPTH && type->kind == XC_TYPE_ARRAY && type->target; k++)
			type = xc_type_strip(type->target);
		if (!array && !xc_typemap_is_record(type))
			continue;
		bool is_base = bases && members[i].base;
		add_held(o, xc_typemap_of(o->engine, members[i].type), offset + members[i].offset, is_base);
		if (xc_typemap_is_record(type))
			add_members(o, type, offset + members[i].offset, is_base, depth + 1);
	}
}

/* Does the last member extend to the end of the block? */
static bool ends_open(const struct xc_type *bare)
{
	size_t count;
	const struct xc_member *members = xc_type_members(bare, &count);
	const struct xc_type *last = count ? xc_type_strip(members[count - 1].type) : NULL;
	return last && last->kind == XC_TYPE_ARRAY && bare->kind != XC_TYPE_UNION &&
	       (!last->count_known || last->count == 0);
}

static bool see_type(void *context, const char *name, const struct xc_definition *definition)
{
	struct xc_type_index *o = context;
	Dwarf_Die die = definition->die;
	(void)name;
	if (definition->declaration)
		return true;
	const struct xc_type *type = xc_type_get(xc_engine_of(o->engine->typing)->types, &die);
	const struct xc_type *bare = xc_type_strip(type);
	if (!xc_typemap_is_record(bare) || bare->is_declaration)
		return true;
	uint32_t map = xc_typemap_of(o->engine, type);
	if (map == XC_NO_MAP || o->engine->maps[map]->listed)
		return true;
	o->engine->maps[map]->listed = true;
	o->engine->maps[map]->own = o->own_module ? XC_OWN_MAYBE : XC_OWN_NOT;
	o->by_size = xc_grow(o->by_size, o->count, &o->capacity, sizeof *o->by_size);
	o->by_size[o->count++] = map;
	o->outer = map;
	o->held_before = o->held_count;
	o->steps_before = o->steps;
	add_members(o, bare, 0, true, 0);
	if (o->own_module && ends_open(bare)) {
		o->flexible = xc_grow(o->flexible, o->flexible_count, &o->flexible_capacity, sizeof *o->flexible);
		o->flexible[o->flexible_count++] = map;
	}
	return o->count < TYPES;
}

/* The directories of distributions' libraries. */
static bool is_of_system(const struct xc_module *module)
{
	return module->kind != XC_MODULE_EXE &&
	       (strncmp(module->path, "/lib", 4) == 0 || strncmp(module->path, "/usr/lib", 8) == 0 ||
		module->kind == XC_MODULE_LOADER || module->kind == XC_MODULE_VDSO);
}

static int by_inner(const void *a, const void *b)
{
	const struct xc_type_enclosing *x = a, *y = b;
	if (x->inner != y->inner)
		return x->inner < y->inner ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->outer < y->outer ? -1 : x->outer > y->outer;
}

static int by_size(const void *a, const void *b, void *engine)
{
	const uint32_t *x = a, *y = b;
	const struct xc_engine *e = engine;
	uint64_t m = e->maps[*x]->size, n = e->maps[*y]->size;
	if (m != n)
		return m < n ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static bool is_of_library(const struct xc_type *type)
{
	return type->name && !type->is_c && !type->is_rust && xc_begins_with(type->name, "std::");
}

/* Is a pointer to the inner object how programs refer to the outer one? Not if it is just the first member of a class
 * of the C++ library, an element of an optional or a pair, or itself a string or container: those are no headers. */
static bool is_derived(const struct xc_engine *e, const struct xc_type_enclosing *held)
{
	const struct xc_typemap *outer = e->maps[held->outer], *inner = e->maps[held->inner];
	return outer->bare->kind != XC_TYPE_UNION && outer->size > inner->size && /* not just a wrapper of it */
	       (held->is_base || !(is_of_library(outer->bare) || is_of_library(inner->bare)));
}

/* Records the types that begin with an object of another type, for lookups while types flow. */
static void find_derived(struct xc_type_index *o)
{
	struct xc_engine *e = o->engine;
	for (size_t i = 0; i < o->held_count;) {
		size_t end = i;
		struct xc_typemap *map = e->maps[o->held[i].inner];
		uint32_t *derived = NULL, count = 0;
		while (end < o->held_count && o->held[end].inner == o->held[i].inner)
			end++;
		if (map->is_record)
			derived = xc_arena_alloc(&e->heap->memory, (end - i) * sizeof *derived);
		for (size_t k = i; k < end && derived && o->held[k].offset == 0; k++)
			if (is_derived(e, &o->held[k]))
				derived[count++] = o->held[k].outer;
		map->derived = derived;
		map->derived_count = count;
		i = end;
	}
}

/* ---- headers ---- */

/* Interpreters write the members of an object's header into each type of objects, by a macro. The header has a pointer
 * to its own type. */
enum { HEADER_MEMBERS = 8 };

static uint64_t hash_member(uint64_t hash, const struct xc_member *member)
{
	const struct xc_type *type = xc_type_strip(member->type), *to = type;
	uint64_t size = 0;
	for (unsigned i = 0; i < DEPTH && xc_typemap_is_pointer(to) && to->target; i++)
		to = xc_type_strip(to->target);
	if (!xc_type_size(type, &size))
		size = 0;
	hash = xc_hash_bytes(hash, member->name ? member->name : "", member->name ? strlen(member->name) : 0);
	hash = xc_hash_bytes(hash, to->name ? to->name : "", to->name ? strlen(to->name) : 0);
	return xc_hash_mix(xc_hash_mix(hash, member->offset), size << 8 | type->kind);
}

static bool points_to_itself(const struct xc_type *bare)
{
	size_t count;
	const struct xc_member *members = xc_type_members(bare, &count);
	for (size_t i = 0; i < count; i++) {
		const struct xc_type *type = xc_type_strip(members[i].type);
		const struct xc_type *to = type->kind == XC_TYPE_POINTER ? xc_type_strip(type->target) : NULL;
		if (to && bare->name && to->kind == XC_TYPE_STRUCT && to->name && strcmp(to->name, bare->name) == 0)
			return true;
	}
	return false;
}

/* Sees the first members of all structs: notes those that are a header's, or looks them up. */
static void see_headers(struct xc_type_index *o, struct xc_hashtable *headers, bool look)
{
	size_t types = o->count, count;
	for (size_t i = 0; i < types; i++) {
		const struct xc_type *bare = o->engine->maps[o->by_size[i]]->bare;
		const struct xc_member *members = bare->kind == XC_TYPE_STRUCT ? xc_type_members(bare, &count) : NULL;
		uint64_t hash = 0;
		if (!members || (!look && (count < 2 || count > HEADER_MEMBERS || !points_to_itself(bare))))
			continue;
		for (size_t k = 0; k < count && k < HEADER_MEMBERS; k++) {
			hash = hash_member(hash, &members[k]);
			if (!look && k + 1 == count)
				xc_hashtable_at(headers, NULL, hash, k)->number = o->by_size[i];
			const union xc_hashtable_value *header =
				look && k + 1 < count ? xc_hashtable_find(headers, hash, k) : NULL;
			if (!header || !xc_typemap_is_own(o->engine->maps[header->number]))
				continue;
			o->outer = o->by_size[i];
			o->engine->maps[header->number]->is_header = true;
			add_held(o, (uint32_t)header->number, 0, true);
		}
	}
}

static void find_headers(struct xc_type_index *o)
{
	struct xc_hashtable headers = {0};
	see_headers(o, &headers, false);
	see_headers(o, &headers, true);
	xc_hashtable_fini(&headers);
}

void xc_type_index_build(struct xc_engine *e)
{
	const struct xc_process *process = e->heap->process;
	struct xc_type_index *o = e->owners = xc_alloc(sizeof *o);
	o->engine = e;
	for (size_t i = 0; i < process->module_count && o->count < TYPES; i++) {
		o->own_module = !is_of_system(process->modules[i]);
		xc_lookup_each(process, process->modules[i], XC_NAME_TYPE, see_type, o);
	}
	find_headers(o);
	if (o->held_count)
		qsort(o->held, o->held_count, sizeof *o->held, by_inner);

	if (o->count)
		qsort_r(o->by_size, o->count, sizeof *o->by_size, by_size, e);
	find_derived(o);
}

void xc_type_index_free(struct xc_engine *e)
{
	if (!e->owners)
		return;
	free(e->owners->held);
	free(e->owners->by_size);
	free(e->owners->flexible);
	free(e->owners);
}

const struct xc_type_enclosing *xc_type_index_enclosing(const struct xc_engine *e, uint32_t inner, size_t *count_out)
{
	const struct xc_type_index *o = e->owners;
	size_t lo = XC_LOWER_BOUND(o->held_count, i, o->held[i].inner < inner), end;
	for (end = lo; end < o->held_count && o->held[end].inner == inner; end++)
		;
	*count_out = end - lo;
	return o->held + lo;
}

static size_t first_of_size(const struct xc_type_index *o, uint64_t size)
{
	return XC_LOWER_BOUND(o->count, i, o->engine->maps[o->by_size[i]]->size < size);
}

const uint32_t *xc_type_index_sized(const struct xc_engine *e, uint64_t least, uint64_t most, size_t *count_out)
{
	size_t lo = first_of_size(e->owners, least), hi = first_of_size(e->owners, most + 1);
	*count_out = hi - lo;
	return hi > lo ? e->owners->by_size + lo : NULL; /* there may be none */
}

const uint32_t *xc_type_index_flexible(const struct xc_engine *e, size_t *count_out)
{
	*count_out = e->owners->flexible_count;
	return e->owners->flexible;
}

bool xc_typemap_is_own(struct xc_typemap *map)
{
	const char *file = NULL;
	unsigned line;
	if (map->own == XC_OWN_MAYBE) {
		bool told = xc_type_place(map->bare, &file, &line) && file;
		map->own = told && strncmp(file, "/usr/", 5) != 0 && !strstr(file, "malloc") ? XC_OWN : XC_OWN_NOT;
	}
	return map->own == XC_OWN;
}
