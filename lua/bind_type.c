/* bind_type: types as scripts see them, and types by name. */
#include "bind.h"

#include <string.h>

#include "../core/arch.h"
#include "../dwarf/cexpr.h"
#include "../dwarf/ctype.h"
#include "../dwarf/layout_text.h"

static const char type_key;

void xc_bind_push_type(lua_State *L, const struct xc_type *type)
{
	luaL_checkstack(L, 4, NULL);
	/* One userdata for each type, as long as somebody holds it: types compare with ==. */
	lua_rawgetp(L, LUA_REGISTRYINDEX, &type_key);
	if (lua_rawgetp(L, -1, type) != LUA_TNIL) {
		lua_remove(L, -2);
		return;
	}
	lua_pop(L, 1);
	const struct xc_type **box = lua_newuserdatauv(L, sizeof(struct xc_type *), 0);
	*box = type;
	lua_getmetatable(L, -2);
	lua_getfield(L, -1, "of_types");
	lua_setmetatable(L, -3);
	lua_pop(L, 1);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, -3, type);
	lua_remove(L, -2);
}

const struct xc_type *xc_bind_test_type(lua_State *L, int arg)
{
	const struct xc_type *const *box = luaL_testudata(L, arg, "xcore.Type");
	return box ? *box : NULL;
}

struct xc_error *xc_bind_type_named(struct xc_host *host, const char *name, const struct xc_type **out)
{
	struct xc_standpoint nowhere = {.process = host->process};
	bool named;
	struct xc_error *err = xc_cexpr_type(&nowhere, name, &host->process->arena, out, &named);
	if (!err && !named)
		err = xc_error_new(XC_ERR_NOT_FOUND, "%s is an expression, no type", name);
	if (err && (err->code == XC_ERR_NOT_FOUND || err->code == XC_ERR_FORMAT || err->code == XC_ERR_USAGE))
		err->code = XC_ERR_NOT_FOUND;
	return err;
}

/* Names that were found are kept: a loop may cast by name. */
const struct xc_type *xc_bind_check_type(lua_State *L, int arg)
{
	static const char names_key;
	const struct xc_type *type = xc_bind_test_type(L, arg);
	if (type)
		return type;
	luaL_checkstring(L, arg);
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
	}
	lua_pushvalue(L, arg);
	if (lua_rawget(L, -2) == LUA_TLIGHTUSERDATA) {
		type = lua_touserdata(L, -1);
		lua_pop(L, 2);
		return type;
	}
	lua_pop(L, 1);
	xc_bind_raise(L, xc_bind_type_named(xc_bind_host(L), lua_tostring(L, arg), &type));
	lua_pushvalue(L, arg);
	lua_pushlightuserdata(L, (void *)type);
	lua_rawset(L, -3);
	lua_pop(L, 1);
	return type;
}

static const struct xc_type *self_of(lua_State *L)
{
	return *(const struct xc_type *const *)luaL_checkudata(L, 1, "xcore.Type");
}

static int type_strip(lua_State *L)
{
	xc_bind_push_type(L, xc_bind_shape(self_of(L)));
	return 1;
}

static int type_pointer(lua_State *L)
{
	xc_bind_push_type(L, xc_ctype_derive(xc_bind_host(L)->process, XC_TYPE_POINTER, self_of(L)));
	return 1;
}

static int type_array(lua_State *L)
{
	lua_Integer count = luaL_checkinteger(L, 2);
	luaL_argcheck(L, count >= 0, 2, "a count is not negative");
	xc_bind_push_type(L, xc_ctype_array(xc_bind_host(L)->process, self_of(L), (uint64_t)count));
	return 1;
}

static void push_member(lua_State *L, const struct xc_member *member)
{
	lua_createtable(L, 0, 6);
	lua_pushstring(L, member->name);
	lua_setfield(L, -2, "name");
	xc_bind_push_type(L, member->type);
	lua_setfield(L, -2, "type");
	lua_pushinteger(L, (lua_Integer)member->offset);
	lua_setfield(L, -2, "offset");
	if (member->bit_size > 0) {
		lua_pushinteger(L, member->bit_offset);
		lua_setfield(L, -2, "bit_offset");
		lua_pushinteger(L, member->bit_size);
		lua_setfield(L, -2, "bit_size");
	}
	lua_pushboolean(L, member->base);
	lua_setfield(L, -2, "base");
}

static int type_members(lua_State *L)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_bind_shape(self_of(L)), &count);
	lua_createtable(L, (int)(count < 4096 ? count : 4096), 0);
	for (size_t i = 0; i < count; i++) {
		push_member(L, &members[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int type_enumerators(lua_State *L)
{
	size_t count = 0;
	const struct xc_type *shape = xc_bind_shape(self_of(L));
	const struct xc_enumerator *items = shape->kind == XC_TYPE_ENUM ? xc_type_enumerators(shape, &count) : NULL;
	lua_newtable(L);
	for (size_t i = 0; i < count; i++) {
		lua_createtable(L, 0, 2);
		lua_pushstring(L, items[i].name);
		lua_setfield(L, -2, "name");
		lua_pushinteger(L, (lua_Integer)items[i].value);
		lua_setfield(L, -2, "value");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static const char *kind_name(const struct xc_type *type)
{
	static const char *const names[] = {
		[XC_TYPE_VOID] = "void",
		[XC_TYPE_INT] = "int",
		[XC_TYPE_BOOL] = "bool",
		[XC_TYPE_CHAR] = "char",
		[XC_TYPE_FLOAT] = "float",
		[XC_TYPE_COMPLEX] = "complex",
		[XC_TYPE_ENUM] = "enum",
		[XC_TYPE_POINTER] = "pointer",
		[XC_TYPE_REFERENCE] = "reference",
		[XC_TYPE_RVALUE_REFERENCE] = "reference",
		[XC_TYPE_MEMBER_POINTER] = "member pointer",
		[XC_TYPE_ARRAY] = "array",
		[XC_TYPE_STRUCT] = "struct",
		[XC_TYPE_CLASS] = "class",
		[XC_TYPE_UNION] = "union",
		[XC_TYPE_FUNCTION] = "function",
		[XC_TYPE_TYPEDEF] = "typedef",
		[XC_TYPE_CONST] = "const",
		[XC_TYPE_VOLATILE] = "volatile",
		[XC_TYPE_RESTRICT] = "restrict",
		[XC_TYPE_ATOMIC] = "atomic",
		[XC_TYPE_UNKNOWN] = "unknown",
	};
	return names[type->kind];
}

/* The properties; methods are in the table of upvalue 1. */
static int type_index(lua_State *L)
{
	const struct xc_type *type = self_of(L), *shape = xc_bind_shape(type);
	const char *name = luaL_checkstring(L, 2);
	uint64_t size;
	if (strcmp(name, "name") == 0) {
		lua_pushstring(L, xc_type_name(type));
	} else if (strcmp(name, "kind") == 0) {
		lua_pushstring(L, kind_name(type));
	} else if (strcmp(name, "size") == 0) {
		if (xc_type_size(type, &size) || xc_type_size(shape, &size))
			lua_pushinteger(L, (lua_Integer)size);
		else
			lua_pushnil(L);
	} else if (strcmp(name, "signed") == 0) {
		lua_pushboolean(L, shape->is_signed);
	} else if (strcmp(name, "target") == 0) {
		if (type->target)
			xc_bind_push_type(L, type->target);
		else
			lua_pushnil(L);
	} else if (strcmp(name, "count") == 0) {
		if (shape->kind == XC_TYPE_ARRAY && shape->count_known)
			lua_pushinteger(L, (lua_Integer)shape->count);
		else
			lua_pushnil(L);
	} else if (strcmp(name, "incomplete") == 0) {
		lua_pushboolean(L, shape->is_declaration);
	} else {
		lua_pushvalue(L, 2);
		if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL)
			return xc_bind_fail(L, XC_ERR_USAGE, "a type has no '%s'", name);
	}
	return 1;
}

static int type_tostring(lua_State *L)
{
	lua_pushstring(L, xc_type_name(self_of(L)));
	return 1;
}

void xc_bind_type_open(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"strip", type_strip},     {"pointer", type_pointer},         {"array", type_array},
		{"members", type_members}, {"enumerators", type_enumerators}, {NULL, NULL},
	};
	luaL_newmetatable(L, "xcore.Type");
	luaL_newlib(L, methods);
	lua_pushcclosure(L, type_index, 1);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, type_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pushliteral(L, "xcore.Type");
	lua_setfield(L, -2, "__metatable");
	lua_newtable(L); /* userdata by type, weakly */
	lua_createtable(L, 0, 2);
	lua_pushliteral(L, "v");
	lua_setfield(L, -2, "__mode");
	lua_pushvalue(L, -3);
	lua_setfield(L, -2, "of_types");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &type_key);
	lua_pop(L, 1);
}
