/* accessor: a hash table by type and name. */
#include "lua/bind/accessor.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"
#include "core/elf/arch.h"
#include "dwarf/value/float.h"

enum { MAX_FIELDS = 1 << 16, MAX_NESTING = 16, MAX_STEPS = 1 << 18, SHORT_NAME = 40 };

struct xc_accessors {
	const struct xc_process *process;
	struct xc_arena memory;
	struct xc_hashtable fields; /* (shape, name) → accessor */
};

struct xc_accessors *xc_accessors_new(const struct xc_process *process)
{
	struct xc_accessors *accessors = xc_alloc(sizeof *accessors);
	accessors->process = process;
	return accessors;
}

void xc_accessors_free(struct xc_accessors *accessors)
{
	xc_hashtable_fini(&accessors->fields);
	xc_arena_fini(&accessors->memory);
	free(accessors);
}

/* NULL when there are too many: a script may ask for elements of any number of types. */
static struct xc_accessor *insert(struct xc_accessors *accessors, const struct xc_accessor *made)
{
	if (accessors->fields.count >= MAX_FIELDS)
		return NULL;
	struct xc_accessor *field = xc_arena_alloc(&accessors->memory, sizeof *field);
	*field = *made;
	xc_hashtable_at(&accessors->fields, NULL, (uintptr_t)made->shape, (uintptr_t)made->name)->pointer = field;
	return field;
}

static enum xc_reading_kind float_kind(const struct xc_process *process, const struct xc_type *type)
{
	switch (xc_float_kind_of(type, (unsigned)type->size, process->arch)) {
	case XC_FLOAT_SINGLE:
		return XC_READ_FLOAT;
	case XC_FLOAT_DOUBLE:
		return XC_READ_DOUBLE;
	default:
		return XC_READ_SLOWLY;
	}
}

static enum xc_reading_kind kind_of(const struct xc_process *process, const struct xc_type *type)
{
	switch (type->kind) {
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
	case XC_TYPE_ENUM:
		return XC_READ_INTEGER;
	case XC_TYPE_BOOL:
		return XC_READ_BOOL;
	case XC_TYPE_FLOAT:
		return float_kind(process, type);
	case XC_TYPE_POINTER:
		return XC_READ_POINTER;
	case XC_TYPE_ARRAY:
	case XC_TYPE_STRUCT:
	case XC_TYPE_CLASS:
	case XC_TYPE_UNION:
	case XC_TYPE_FUNCTION:
		return XC_READ_PLACE;
	default:
		return XC_READ_SLOWLY;
	}
}

struct xc_reading xc_reading_of(const struct xc_process *process, const struct xc_type *type)
{
	const struct xc_type *bare = xc_bind_shape(type);
	struct xc_reading reading = {
		.kind = kind_of(process, bare), .type = type, .shape = bare, .is_signed = bare->is_signed};
	if (reading.kind == XC_READ_PLACE)
		return reading;
	if (!bare->size_known || bare->size == 0 || bare->size > 8 || process->arch->big_endian || bare->is_swapped)
		reading.kind = XC_READ_SLOWLY;
	if (bare->is_dynamic && bare->kind != XC_TYPE_POINTER)
		reading.kind = XC_READ_SLOWLY;
	reading.size = reading.kind == XC_READ_SLOWLY ? 0 : (uint8_t)bare->size;
	if (reading.kind == XC_READ_POINTER)
		reading.shape = xc_bind_shape(bare->target);
	return reading;
}

/* The limit on steps ends the search in types that contain themselves. */
struct search {
	unsigned nesting, steps;
};

/* The offset of a member of a virtual base, or of a variant of a Rust enum, depends on the object: xc_value_member
 * handles these. */
static bool find(const struct xc_type *shape, const char *name, struct search *search, struct xc_placed_member *out,
		 bool *dynamic_out)
{
	size_t count;
	const struct xc_member *members = xc_type_members(shape, &count);
	search->steps = search->steps > count ? search->steps - (unsigned)count : 0;
	if (shape->has_variants)
		*dynamic_out = true;
	for (size_t i = 0; i < count; i++) {
		if (members[i].name && !members[i].base && strcmp(members[i].name, name) == 0) {
			*out = (struct xc_placed_member){.member = &members[i], .offset = members[i].offset};
			return true;
		}
	}
	for (size_t i = 0; i < count && search->nesting < MAX_NESTING && search->steps > 0; i++) {
		const struct xc_member *m = &members[i];
		if (m->name && !m->base)
			continue;
		if (m->dynamic) {
			*dynamic_out = true;
			continue;
		}
		search->nesting++;
		bool found = find(xc_bind_shape(m->type), name, search, out, dynamic_out);
		search->nesting--;
		if (found) {
			out->offset += m->offset;
			return true;
		}
	}
	return false;
}

bool xc_accessor_place(const struct xc_type *shape, const char *name, struct xc_placed_member *out, bool *dynamic_out)
{
	struct search search = {.steps = MAX_STEPS};
	*dynamic_out = false;
	return find(shape, name, &search, out, dynamic_out) && !*dynamic_out;
}

void xc_reading_narrow(struct xc_reading *reading, unsigned bit_offset, unsigned bit_size)
{
	unsigned end = bit_offset + bit_size;
	if (reading->kind != XC_READ_INTEGER || end > 64) {
		reading->kind = XC_READ_SLOWLY;
		return;
	}
	reading->kind = XC_READ_BITS;
	reading->bit_offset = (uint8_t)bit_offset;
	reading->bit_size = (uint8_t)bit_size;
	reading->size = (uint8_t)((end + 7) / 8);
}

static bool resolve(const struct xc_process *process, const struct xc_type *shape, const char *name,
		    struct xc_accessor *field)
{
	struct xc_placed_member placed;
	bool dynamic;
	*field = (struct xc_accessor){.shape = shape, .name = name};
	if (!xc_accessor_place(shape, name, &placed, &dynamic)) {
		field->reading = (struct xc_reading){.kind = XC_READ_SLOWLY};
		return dynamic;
	}
	field->offset = placed.offset;
	field->reading = xc_reading_of(process, placed.member->type);
	if (placed.member->bit_size > 0)
		xc_reading_narrow(&field->reading, placed.member->bit_offset, placed.member->bit_size);
	return true;
}

static void anchor(lua_State *L, int arg)
{
	static const char key;
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &key) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
	}
	lua_pushvalue(L, arg);
	lua_pushboolean(L, 1);
	lua_rawset(L, -3);
	lua_pop(L, 1);
}

struct xc_accessor *xc_accessor_member(lua_State *L, const struct xc_type *shape, int arg)
{
	struct xc_accessors *accessors = xc_bind_host(L)->accessors;
	size_t len;
	const char *name = lua_tolstring(L, arg, &len);
	const union xc_hashtable_value *known =
		xc_hashtable_find(&accessors->fields, (uintptr_t)shape, (uintptr_t)name);
	if (known)
		return known->pointer;
	struct xc_accessor made;
	if (len > SHORT_NAME || strlen(name) != len || !resolve(accessors->process, shape, name, &made))
		return NULL;
	anchor(L, arg);
	return insert(accessors, &made);
}

struct xc_accessor *xc_accessor_element(struct xc_accessors *accessors, const struct xc_type *element)
{
	const union xc_hashtable_value *known = xc_hashtable_find(&accessors->fields, (uintptr_t)element, 0);
	uint64_t size;
	if (known)
		return known->pointer;
	struct xc_accessor made = {.shape = element, .reading = xc_reading_of(accessors->process, element)};
	if (!xc_type_size(made.reading.type, &size) && !xc_type_size(made.reading.shape, &size))
		return NULL;
	made.offset = size;
	return insert(accessors, &made);
}
