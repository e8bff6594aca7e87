/* typing_map: the types that typing follows.
 *
 * Each unit of a program repeats the descriptions of its types. Here types with the same name, kind, size and
 * members are one: the key of a map. typing_slot.c makes its slots later. */
#include "heap/types/typing_map.h"

#include <string.h>

#include "heap/blocks/allocator.h"

/* ---- the map of a type ---- */

static uint64_t mix_text(uint64_t key, const char *text)
{
	return xc_hash_mix(text ? xc_hash_bytes(key, text, strlen(text)) : key, 0x2e);
}

/* The type that gives the name: the target of qualifiers and typedefs, or the last typedef if that target has no
 * name. */
static const struct xc_type *naming(const struct xc_type *type)
{
	const struct xc_type *alias = NULL, *at = type;
	for (int i = 0; i < XC_TYPE_DEPTH && at->target; i++, at = at->target) {
		if (at->kind == XC_TYPE_TYPEDEF)
			alias = at;
		else if (at->kind != XC_TYPE_CONST && at->kind != XC_TYPE_VOLATILE && at->kind != XC_TYPE_RESTRICT &&
			 at->kind != XC_TYPE_ATOMIC)
			break;
	}
	return at->name || !alias || at->kind == XC_TYPE_POINTER || at->kind == XC_TYPE_ARRAY ? at : alias;
}

bool xc_typemap_is_record(const struct xc_type *type)
{
	return type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_UNION;
}

bool xc_typemap_is_pointer(const struct xc_type *type)
{
	return type->kind == XC_TYPE_POINTER || type->kind == XC_TYPE_REFERENCE ||
	       type->kind == XC_TYPE_RVALUE_REFERENCE;
}

bool xc_typemap_element(const struct xc_type *array, const struct xc_type **element_out, uint64_t *count_out)
{
	const struct xc_type *at = array;
	bool known = true;
	*count_out = 1;
	for (int i = 0; i < XC_TYPE_DEPTH && at->kind == XC_TYPE_ARRAY && at->target; i++) {
		known &=
			at->count_known && !at->is_dynamic && !__builtin_mul_overflow(*count_out, at->count, count_out);
		*element_out = at->target;
		at = xc_type_strip(at->target);
	}
	return known;
}

/* The record that a type leads to, through pointers and arrays: the type itself, or NULL. */
static const struct xc_type *record_of(const struct xc_type *type)
{
	for (int i = 0; type && i < XC_TYPE_DEPTH; i++) {
		type = xc_type_strip(type);
		if (xc_typemap_is_record(type))
			return type;
		type = xc_typemap_is_pointer(type) || type->kind == XC_TYPE_ARRAY ? type->target : NULL;
	}
	return NULL;
}

static uint64_t mix_members(uint64_t key, const struct xc_type *record, size_t most)
{
	size_t count;
	const struct xc_member *members = xc_type_members(record, &count);
	key = xc_hash_mix(xc_hash_mix(key, record->kind == XC_TYPE_CLASS ? XC_TYPE_STRUCT : record->kind), count);
	for (size_t i = 0; i < count && i < most; i++) {
		const struct xc_type *to = record_of(members[i].type);
		key = mix_text(xc_hash_mix(key, members[i].offset), members[i].name);
		key = mix_text(key, to ? to->name : NULL);
	}
	return key;
}

enum { TARGET_MEMBERS = 16 }; /* of a pointer's target, whose pointers may be many */

/* Types of one name, size and form are one, in whichever unit they are described. So are pointers to them: a program
 * and the C library may both have a `struct timer *`. */
static uint64_t key_of(const struct xc_type *named, const struct xc_type *bare, uint64_t size)
{
	uint64_t key = mix_members(xc_hash_mix(mix_text(0, xc_type_name(named)), size), bare, SIZE_MAX), target;
	const struct xc_type *to = xc_typemap_is_pointer(bare) ? record_of(bare) : NULL;
	if (to && xc_type_size(xc_type_complete(to), &target))
		key = mix_members(xc_hash_mix(key, target), xc_type_complete(to), TARGET_MEMBERS);
	return key ? key : 1;
}

static bool is_byte(const struct xc_type *type, uint64_t size)
{
	return size == 1 && (type->kind == XC_TYPE_CHAR || type->kind == XC_TYPE_INT ||
			     (type->kind == XC_TYPE_ENUM && type->name && strcmp(type->name, "std::byte") == 0));
}

static uint32_t add_map(struct xc_engine *e, const struct xc_type *named, const struct xc_type *bare, uint64_t size)
{
	if (e->map_count == 0)
		e->map_count = 1; /* number 0 is no map */
	if (e->map_count >= XC_TYPING_MAPS)
		return XC_NO_MAP;
	struct xc_typemap *map = xc_arena_alloc(&e->heap->memory, sizeof *map);
	map->type = named;
	map->bare = bare;
	map->name = xc_type_name(named);
	map->size = size;
	map->is_record = xc_typemap_is_record(bare);
	map->is_char = is_byte(bare, size);
	map->is_opaque = size == 0;
	for (size_t i = 0; e->evidence[i] && map->is_record; i++)
		map->is_part |= e->evidence[i]->part && e->evidence[i]->part(bare);
	map->compiled = map->is_opaque || !(map->is_record || xc_typemap_is_pointer(bare));
	map->quiet = bare->kind == XC_TYPE_FLOAT || (bare->kind == XC_TYPE_INT && size < e->word) ? UINT64_MAX : 0;
	e->maps = xc_grow(e->maps, e->map_count, &e->map_capacity, sizeof *e->maps);
	e->maps[e->map_count] = map;
	map->base = (uint32_t)e->map_count;
	return (uint32_t)e->map_count++;
}

static uint32_t find_map(struct xc_engine *e, const struct xc_type *named, const struct xc_type *bare)
{
	uint64_t size = 0;
	if (!xc_type_size(bare, &size) && !bare->is_declaration)
		return XC_NO_MAP;
	if (size > UINT32_MAX)
		return XC_NO_MAP;
	uint64_t key = key_of(named, bare, size);
	union xc_hashtable_value *map = xc_hashtable_find(&e->by_key, key, 0);
	if (!map) {
		uint32_t number = add_map(e, named, bare, size);
		(map = xc_hashtable_at(&e->by_key, NULL, key, 0))->number = number;
	}
	return (uint32_t)map->number;
}

bool xc_typemap_is_of_allocator(const char *name)
{
	for (size_t i = 0; name && xc_allocator_list[i]; i++)
		for (const char *const *own = xc_allocator_list[i]->own_types; own && *own; own++)
			if (strcmp(name, *own) == 0)
				return true;
	return false;
}

static uint32_t make_map(struct xc_engine *e, const struct xc_type *type)
{
	const struct xc_type *bare = xc_type_strip(type), *element = NULL;
	const struct xc_type *named = xc_typing_headers(e, type) ? type : naming(type);
	uint64_t count;
	if (bare->is_declaration)
		named = bare = xc_type_strip(xc_type_complete(bare));
	if (xc_typemap_is_of_allocator(bare->name))
		return XC_NO_MAP;
	switch (bare->kind) {
	case XC_TYPE_ARRAY:
		xc_typemap_element(bare, &element, &count);
		return element ? xc_typemap_of(e, element) : XC_NO_MAP;
	case XC_TYPE_VOID:
	case XC_TYPE_FUNCTION:
	case XC_TYPE_UNKNOWN:
		return XC_NO_MAP;
	default:
		return bare->is_dynamic && xc_typemap_is_record(bare) ? XC_NO_MAP : find_map(e, named, bare);
	}
}

uint32_t xc_typemap_of(struct xc_engine *e, const struct xc_type *type)
{
	uintptr_t known = (uintptr_t)*xc_pointer_map_at(&e->by_type, &e->heap->memory, type, NULL);
	if (known)
		return (uint32_t)(known - 1);
	*xc_pointer_map_at(&e->by_type, &e->heap->memory, type, NULL) =
		(void *)(uintptr_t)(XC_NO_MAP + 1); /* ends recursion in circles */
	uint32_t number = make_map(e, type);
	*xc_pointer_map_at(&e->by_type, &e->heap->memory, type, NULL) = (void *)((uintptr_t)number + 1);
	return number;
}

uint32_t xc_typemap_variant(struct xc_engine *e, uint32_t number, uint32_t variant)
{
	const struct xc_typemap *base = e->maps[e->maps[number]->base];
	if (number == XC_NO_MAP || variant == 0 || base->is_opaque)
		return number;
	const void *key = (const void *)(uintptr_t)variant;
	uintptr_t known = (uintptr_t)*xc_pointer_map_at(&e->variants, &e->heap->memory, base, key);
	if (known)
		return (uint32_t)known - 1;
	uint32_t made = add_map(e, base->type, base->bare, base->size);
	if (made != XC_NO_MAP) {
		e->maps[made]->base = base->base;
		e->maps[made]->variant = variant;
		e->maps[made]->derived = base->derived;
		e->maps[made]->derived_count = base->derived_count;
	}
	*xc_pointer_map_at(&e->variants, &e->heap->memory, base, key) = (void *)((uintptr_t)made + 1);
	return made;
}

void xc_typemap_count_blocks(struct xc_engine *e)
{
	for (size_t i = 0; i < e->map_count; i++)
		e->maps[i]->blocks = 0;
	for (size_t i = 0; i < e->heap->blocks.count; i++)
		e->maps[e->facts[xc_code_item(e->typing->by_block[i])].map]->blocks++;
}

const char *xc_typemap_via(struct xc_engine *e, const struct xc_typemap_slot *slot)
{
	if (slot->items)
		return e->typing->items[slot->items].via;
	return *slot->path ? xc_arena_printf(&e->heap->memory, "%s.%s", e->maps[slot->owner]->name, slot->path)
			   : e->maps[slot->owner]->name;
}
