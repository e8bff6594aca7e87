/* bind_value: values of the target as userdata, their operators, and scalars as numbers of Lua. */
#include "lua/vm/bind.h"

#include <string.h>

#include "dwarf/view/view.h"
#include "lua/bind/accessor.h"
#include "lua/bind/bind_index.h"

static const char value_key;

void *xc_bind_new(lua_State *L, size_t size)
{
	void *value = lua_newuserdatauv(L, size, 0);
	memset(value, 0, size);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &value_key);
	lua_setmetatable(L, -2);
	return value;
}

const struct xc_type *xc_bind_shape(const struct xc_type *type)
{
	const struct xc_type *bare = xc_type_strip(type);
	return bare->is_declaration ? xc_type_strip(xc_type_complete(bare)) : bare;
}

static const struct xc_type *shape_of_target(const struct xc_type *type)
{
	const struct xc_type *bare = xc_type_strip(type);
	return xc_bind_shape(bare->target ? bare->target : bare);
}

void xc_bind_push_place(lua_State *L, const struct xc_type *type, xc_addr addr, const struct xc_path *path)
{
	struct xc_lua_value *value = xc_bind_new(L, sizeof *value);
	*value = (struct xc_lua_value){type, xc_bind_shape(type), addr, path, XC_FORM_PLACE};
}

void xc_bind_push_pointer(lua_State *L, const struct xc_type *type, xc_addr addr, const struct xc_path *path)
{
	if (addr == 0) {
		lua_pushnil(L);
		return;
	}
	struct xc_lua_value *value = xc_bind_new(L, sizeof *value);
	*value = (struct xc_lua_value){type, shape_of_target(type), addr, path, XC_FORM_POINTER};
}

void xc_bind_push_reference(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	if (value->kind != XC_VALUE_MEMORY || value->bit_size > 0) {
		xc_bind_push_held(L, value, path);
		return;
	}
	struct xc_lua_value *reference = xc_bind_new(L, sizeof *reference);
	*reference =
		(struct xc_lua_value){value->type, xc_bind_shape(value->type), value->addr, path, XC_FORM_REFERENCE};
}

struct xc_lua_value *xc_bind_test(lua_State *L, int arg)
{
	struct xc_lua_value *value = lua_touserdata(L, arg);
	if (!value || !lua_getmetatable(L, arg))
		return NULL;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &value_key);
	bool is_value = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return is_value ? value : NULL;
}

struct xc_lua_value *xc_bind_check(lua_State *L, int arg)
{
	struct xc_lua_value *value = xc_bind_test(L, arg);
	if (!value)
		luaL_typeerror(L, arg, "value of the target");
	return value;
}

struct xc_value xc_bind_value(lua_State *L, const struct xc_lua_value *value)
{
	const struct xc_process *process = xc_bind_host(L)->process;
	if (value->form == XC_FORM_HELD)
		return ((const struct xc_lua_held *)value)->value;
	if (value->form == XC_FORM_POINTER)
		return xc_value_small(process, value->type, &value->addr, sizeof value->addr);
	return xc_value_memory(process, value->type, value->addr);
}

xc_addr xc_bind_address_of(lua_State *L, const struct xc_lua_value *value)
{
	if (value->form != XC_FORM_HELD)
		return value->addr;
	const struct xc_value *held = &((const struct xc_lua_held *)value)->value;
	uint64_t bits;
	if (xc_type_strip(held->type)->kind == XC_TYPE_POINTER) {
		xc_bind_raise_at(L, xc_value_number(held, &bits), value, NULL);
		return bits;
	}
	if (held->bit_size > 0)
		xc_bind_fail(L, XC_ERR_USAGE, "a bit-field has no address");
	if (held->kind != XC_VALUE_MEMORY)
		xc_bind_fail(L, XC_ERR_ABSENT, "%s is not in memory", xc_type_name(held->type));
	return held->addr;
}

xc_addr xc_bind_check_address(lua_State *L, int arg)
{
	const struct xc_lua_value *value = xc_bind_test(L, arg);
	return value ? xc_bind_address_of(L, value) : (xc_addr)luaL_checkinteger(L, arg);
}

/* ---- pushing ---- */

/* A scalar without a Lua number: it cannot be read, or has an unknown format. */
static void push_odd(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	xc_bind_raise_path(L, xc_value_check(value), path);
	xc_bind_push_held(L, value, path);
}

/* An integer of more than 8 bytes: a Lua integer if int64_t can hold it. */
static void push_wide(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	unsigned __int128 bits;
	bool is_signed = xc_type_strip(value->type)->is_signed;
	if (!xc_value_load_wide(value, &bits))
		push_odd(L, value, path);
	else if (bits >> 63 == 0 || (is_signed && (__int128)bits >> 63 == -1))
		lua_pushinteger(L, (lua_Integer)bits);
	else
		xc_bind_push_held(L, value, path);
}

static void push_number(lua_State *L, const struct xc_value *value, const struct xc_type *bare,
			const struct xc_path *path)
{
	uint64_t bits;
	long double number;
	if (bare->kind == XC_TYPE_FLOAT) {
		if (xc_value_load_float(value, 0, (unsigned)bare->size, &number))
			lua_pushnumber(L, (lua_Number)number);
		else
			push_odd(L, value, path);
	} else if (bare->size > 8) {
		push_wide(L, value, path);
	} else if (!xc_value_load(value, &bits)) {
		push_odd(L, value, path);
	} else if (bare->kind == XC_TYPE_BOOL) {
		lua_pushboolean(L, bits != 0);
	} else if (bare->kind == XC_TYPE_POINTER) {
		xc_bind_push_pointer(L, value->type, bits, path);
	} else {
		lua_pushinteger(L, (lua_Integer)bits);
	}
}

/* The target of a reference; in damaged debug information a reference may refer to a reference. */
static struct xc_value referred(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	struct xc_value at = *value;
	for (unsigned depth = 0; depth < XC_TYPE_DEPTH; depth++) {
		enum xc_type_kind kind = xc_type_strip(at.type)->kind;
		if (kind != XC_TYPE_REFERENCE && kind != XC_TYPE_RVALUE_REFERENCE)
			break;
		xc_bind_raise_path(L, xc_value_deref(&at, &at), path);
	}
	return at;
}

void xc_bind_push(lua_State *L, const struct xc_value *given, const struct xc_path *path)
{
	luaL_checkstack(L, 8, NULL);
	if (given->kind == XC_VALUE_ABSENT)
		xc_bind_raise_path(L, xc_value_check(given), path);
	struct xc_value value = referred(L, given, path);
	const struct xc_type *bare = xc_bind_shape(value.type);
	switch (bare->kind) {
	case XC_TYPE_POINTER:
		if (value.kind == XC_VALUE_POINTEE) {
			xc_bind_push_held(L, &value, path);
			break;
		} /* fall through */
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
	case XC_TYPE_ENUM:
	case XC_TYPE_BOOL:
	case XC_TYPE_FLOAT:
		push_number(L, &value, bare, path);
		break;
	default:
		if (value.kind == XC_VALUE_MEMORY && value.bit_size == 0)
			xc_bind_push_place(L, value.type, value.addr, path);
		else
			xc_bind_push_held(L, &value, path);
	}
}

/* ---- operators ---- */

static int value_newindex(lua_State *L)
{
	return xc_bind_fail(L, XC_ERR_USAGE, "the target is read-only");
}

static int value_len(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	struct xc_value value = xc_bind_value(L, self);
	struct xc_view view;
	if (xc_type_strip(value.type)->kind == XC_TYPE_POINTER) /* to an array or a container */
		xc_bind_raise_at(L, xc_value_deref(&value, &value), self, NULL);
	const struct xc_type *shape = xc_bind_shape(value.type);
	if (shape->kind == XC_TYPE_ARRAY && shape->count_known) {
		lua_pushinteger(L, (lua_Integer)shape->count);
		return 1;
	}
	enum xc_view_result result = xc_view_open(&value, &view);
	if (result == XC_VIEW_FOUND && view.count_known) {
		lua_pushinteger(L, (lua_Integer)view.count);
		return 1;
	}
	return xc_bind_fail(L, result == XC_VIEW_INVALID ? XC_ERR_FORMAT : XC_ERR_USAGE,
			    "the length of %s is not known%s%s", xc_type_name(value.type),
			    result == XC_VIEW_INVALID ? ": " : "", result == XC_VIEW_INVALID ? view.why : "");
}

/* The size of the target of a pointer; 1 for void, as in gcc. */
static uint64_t pointed_size(lua_State *L, const struct xc_lua_value *pointer)
{
	const struct xc_accessor *row = NULL;
	if (pointer->form == XC_FORM_POINTER && pointer->shape->kind == XC_TYPE_VOID)
		return 1;
	if (pointer->form == XC_FORM_POINTER)
		row = xc_accessor_element(xc_bind_host(L)->accessors, xc_type_strip(pointer->type)->target);
	if (!row || row->offset == 0 || row->offset > INT64_MAX) /* divisor of differences, signed */
		xc_bind_fail(L, XC_ERR_USAGE, "arithmetic needs a pointer to something whose size is known, not %s",
			     xc_type_name(pointer->type));
	return row->offset;
}

static int value_add(lua_State *L)
{
	int self = xc_bind_test(L, 1) ? 1 : 2;
	struct xc_lua_value pointer = *xc_bind_check(L, self);
	uint64_t by = (uint64_t)luaL_checkinteger(L, 3 - self);
	xc_bind_push_pointer(L, pointer.type, pointer.addr + by * pointed_size(L, &pointer), pointer.path);
	return 1;
}

static int value_sub(lua_State *L)
{
	const struct xc_lua_value *left = xc_bind_check(L, 1), *right = xc_bind_test(L, 2);
	uint64_t size = pointed_size(L, left);
	if (!right) {
		uint64_t by = (uint64_t)luaL_checkinteger(L, 2);
		xc_bind_push_pointer(L, left->type, left->addr - by * size, left->path);
		return 1;
	}
	if (pointed_size(L, right) != size)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s and %s cannot be subtracted", xc_type_name(left->type),
				    xc_type_name(right->type));
	lua_pushinteger(L, (lua_Integer)(left->addr - right->addr) / (lua_Integer)size);
	return 1;
}

/* Compare numbers that have no Lua type. */
static bool same_bits(const struct xc_lua_value *left, const struct xc_lua_value *right)
{
	unsigned __int128 a, b;
	return xc_value_load_wide(&((const struct xc_lua_held *)left)->value, &a) &&
	       xc_value_load_wide(&((const struct xc_lua_held *)right)->value, &b) && a == b;
}

static int value_eq(lua_State *L)
{
	const struct xc_lua_value *left = xc_bind_test(L, 1), *right = xc_bind_test(L, 2);
	bool equal = false;
	if (!left || !right)
		equal = false;
	else if (left->form == XC_FORM_HELD || right->form == XC_FORM_HELD)
		equal = left->form == right->form && same_bits(left, right);
	else
		equal = left->addr == right->addr &&
			(left->form == XC_FORM_POINTER) == (right->form == XC_FORM_POINTER);
	lua_pushboolean(L, equal);
	return 1;
}

static int value_lt(lua_State *L)
{
	lua_pushboolean(L, xc_bind_address_of(L, xc_bind_check(L, 1)) < xc_bind_address_of(L, xc_bind_check(L, 2)));
	return 1;
}

static int value_le(lua_State *L)
{
	lua_pushboolean(L, xc_bind_address_of(L, xc_bind_check(L, 1)) <= xc_bind_address_of(L, xc_bind_check(L, 2)));
	return 1;
}

static int value_tostring(lua_State *L)
{
	struct xc_value value = xc_bind_value(L, xc_bind_check(L, 1));
	xc_bind_format(L, &value);
	return 1;
}

static int value_concat(lua_State *L)
{
	xc_bind_tolstring(L, 1, NULL);
	xc_bind_tolstring(L, 2, NULL);
	lua_concat(L, 2);
	return 1;
}

void xc_bind_value_open(lua_State *L)
{
	static const luaL_Reg metamethods[] = {
		{"__newindex", value_newindex},
		{"__len", value_len},
		{"__add", value_add},
		{"__sub", value_sub},
		{"__eq", value_eq},
		{"__lt", value_lt},
		{"__le", value_le},
		{"__concat", value_concat},
		{"__tostring", value_tostring},
		{NULL, NULL},
	};
	lua_createtable(L, 0, 16);
	luaL_setfuncs(L, metamethods, 0);
	lua_pushvalue(L, -1);
	lua_pushcclosure(L, xc_bind_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushliteral(L, "xcore.Value");
	lua_setfield(L, -2, "__name");
	lua_pushliteral(L, "xcore.Value");
	lua_setfield(L, -2, "__metatable");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &value_key);
}
