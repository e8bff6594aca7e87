/* fixture_encode: values of Lua as bytes of C types, in the target's byte order. */
#include <string.h>

#include "core/elf/arch.h"
#include "lua/vm/bind.h"
#include "lua/cdef/cdef.h"
#include "lua/plugin/fixture_impl.h"

enum { MAX_NESTING = 32 };

/* Store a number in `size` bytes; if width is not 0, in `width` bits from `bit` on. */
static void store(const struct xc_fixture *fixture, uint8_t *bytes, uint64_t size, uint64_t number, unsigned bit,
		  unsigned width)
{
	bool big = fixture->process->arch->big_endian;
	if (width) {
		for (unsigned i = 0; i < width; i++) {
			uint8_t mask = (uint8_t)(1u << ((bit + i) % 8));
			uint8_t *at = &bytes[(bit + i) / 8];
			*at = (uint8_t)(number >> i & 1 ? *at | mask : *at & ~mask);
		}
		return;
	}
	for (uint64_t i = 0; i < size; i++)
		bytes[big ? size - 1 - i : i] = (uint8_t)(i < 8 ? number >> (8 * i) : (int64_t)number < 0 ? 0xff : 0);
}

static void wrong(lua_State *L, const char *path, const struct xc_type *type)
{
	xc_bind_fail(L, XC_ERR_USAGE, "%s: a %s cannot be made from a %s", path, xc_type_name(type),
		     luaL_typename(L, -1));
}

static uint64_t number_at_top(lua_State *L, const struct xc_fixture *fixture, const char *path,
			      const struct xc_type *type)
{
	int64_t number = 0;
	if (lua_isboolean(L, -1))
		return (uint64_t)lua_toboolean(L, -1);
	if (lua_isinteger(L, -1))
		return (uint64_t)lua_tointeger(L, -1);
	if (lua_type(L, -1) != LUA_TSTRING)
		wrong(L, path, type);
	struct xc_error *err = xc_cdef_constant(fixture->cdef, lua_tostring(L, -1), &number);
	if (err)
		xc_bind_raise(L, xc_error_wrap(err, "%s", path));
	return (uint64_t)number;
}

static void encode_float(lua_State *L, const struct xc_fixture *fixture, const char *path, const struct xc_type *type,
			 uint8_t *bytes)
{
	double number = lua_tonumber(L, -1);
	float single = (float)number;
	uint64_t bits = 0;
	if (!lua_isnumber(L, -1) || (type->size != sizeof single && type->size != sizeof number))
		wrong(L, path, type);
	if (type->size == sizeof single)
		memcpy(&bits, &single, sizeof single);
	else
		memcpy(&bits, &number, sizeof number);
	store(fixture, bytes, type->size, bits, 0, 0);
}

static bool is_char(const struct xc_type *type)
{
	type = type ? xc_type_strip(type) : NULL;
	return type && type->kind == XC_TYPE_CHAR && type->size == 1;
}

/* Store the text at the top of the stack somewhere in memory, with a NUL after it. */
static xc_addr lay_text(lua_State *L, struct xc_fixture *fixture)
{
	size_t len;
	const char *text = luaL_checklstring(L, -1, &len);
	xc_addr addr = 0;
	memcpy(xc_fixture_lay(fixture, &addr, len + 1), text, len);
	return addr;
}

static void encode_pointer(lua_State *L, struct xc_fixture *fixture, const char *path, const struct xc_type *type,
			   uint8_t *bytes)
{
	xc_addr addr = 0;
	if (lua_istable(L, -1)) {
		lua_rawgeti(L, -1, 1);
		addr = lay_text(L, fixture);
		lua_pop(L, 1);
	} else if (lua_isinteger(L, -1)) {
		addr = (xc_addr)lua_tointeger(L, -1);
	} else if (lua_type(L, -1) == LUA_TSTRING && is_char(type->target)) {
		addr = lay_text(L, fixture);
	} else if (lua_type(L, -1) == LUA_TSTRING) {
		const struct xc_fixture_object *object = xc_fixture_object(fixture, lua_tostring(L, -1));
		if (!object)
			xc_bind_fail(L, XC_ERR_USAGE, "%s: there is no object '%.60s' to point to", path,
				     lua_tostring(L, -1));
		addr = object->addr;
	} else {
		wrong(L, path, type);
	}
	store(fixture, bytes, fixture->process->arch->word, addr, 0, 0);
}

static void encode_array(lua_State *L, struct xc_fixture *fixture, const char *path, const struct xc_type *type,
			 uint8_t *bytes)
{
	uint64_t size = 0;
	size_t len;
	if (lua_type(L, -1) == LUA_TSTRING && is_char(type->target)) {
		const char *text = lua_tolstring(L, -1, &len);
		if (len > type->count)
			xc_bind_fail(L, XC_ERR_USAGE, "%s: the text has more than %llu bytes", path,
				     (unsigned long long)type->count);
		memcpy(bytes, text, len);
		return;
	}
	if (!lua_istable(L, -1) || !xc_type_size(type->target, &size))
		wrong(L, path, type);
	len = lua_rawlen(L, -1);
	if (len > type->count)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: more than %llu elements", path, (unsigned long long)type->count);
	for (size_t i = 0; i < len; i++) {
		const char *below = lua_pushfstring(L, "%s[%d]", path, (int)i);
		lua_rawgeti(L, -2, (lua_Integer)i + 1);
		xc_fixture_encode(L, fixture, below, type->target, bytes + i * size);
		lua_pop(L, 2);
	}
}

/* Find the member with this name, in anonymous members too; offset accumulates. */
static const struct xc_member *find_member(const struct xc_type *type, const char *name, uint64_t *offset,
					   unsigned depth)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_type_strip(type), &count);
	for (size_t i = 0; i < count && depth < MAX_NESTING; i++) {
		const struct xc_member *found = NULL;
		if (members[i].name && strcmp(members[i].name, name) == 0)
			found = &members[i];
		else if (!members[i].name)
			found = find_member(members[i].type, name, offset, depth + 1);
		if (found) {
			*offset += members[i].offset;
			return found;
		}
	}
	return NULL;
}

static void encode_record(lua_State *L, struct xc_fixture *fixture, const char *path, const struct xc_type *type,
			  uint8_t *bytes)
{
	if (!lua_istable(L, -1))
		wrong(L, path, type);
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		uint64_t offset = 0;
		if (lua_type(L, -2) != LUA_TSTRING)
			xc_bind_fail(L, XC_ERR_USAGE, "%s: members must be named", path);
		const char *name = lua_tostring(L, -2);
		const struct xc_member *member = find_member(type, name, &offset, 0);
		if (!member)
			xc_bind_fail(L, XC_ERR_USAGE, "%s: %s has no member '%.60s'", path, xc_type_name(type), name);
		const char *below = lua_pushfstring(L, "%s.%s", path, name);
		lua_insert(L, -2);
		if (member->bit_size)
			store(fixture, bytes + offset, 0, number_at_top(L, fixture, below, member->type),
			      member->bit_offset, member->bit_size);
		else
			xc_fixture_encode(L, fixture, below, member->type, bytes + offset);
		lua_remove(L, -2);
	}
}

void xc_fixture_encode(lua_State *L, struct xc_fixture *fixture, const char *path, const struct xc_type *type,
		       uint8_t *bytes)
{
	const struct xc_type *shape = xc_type_complete(xc_type_strip(type));
	luaL_checkstack(L, 12, path);
	if (lua_isnil(L, -1))
		return;
	switch (shape->kind) {
	case XC_TYPE_INT:
	case XC_TYPE_BOOL:
	case XC_TYPE_CHAR:
	case XC_TYPE_ENUM:
		store(fixture, bytes, shape->size, number_at_top(L, fixture, path, shape), 0, 0);
		break;
	case XC_TYPE_FLOAT:
		encode_float(L, fixture, path, shape, bytes);
		break;
	case XC_TYPE_POINTER:
		encode_pointer(L, fixture, path, shape, bytes);
		break;
	case XC_TYPE_ARRAY:
		encode_array(L, fixture, path, shape, bytes);
		break;
	case XC_TYPE_STRUCT:
	case XC_TYPE_UNION:
		encode_record(L, fixture, path, shape, bytes);
		break;
	default:
		wrong(L, path, shape);
	}
}
