/* bind_class: a metatable for each class, kept in the registry under the address of the class. Its __index has one
 * table of names: a function is a method, a light userdata a property. */
#include "lua/bind/bind_class.h"

#include <string.h>

#include "core/text/suggest.h"

/* Raises; the known names are the keys of the table at the top of the stack. */
static int no_such_name(lua_State *L, const struct xc_bind_class *class, const char *name)
{
	struct xc_suggestion near = xc_suggest(name);
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
		xc_suggest_consider(&near, lua_tostring(L, -2)); /* the keys are strings, and stay in the table */
	struct xc_error *err = xc_error_new(XC_ERR_USAGE, "%s has no '%s'", class->noun, name);
	return xc_bind_raise(L, near.best ? xc_error_hint(err, "did you mean %s?", near.best) : err);
}

/* Upvalues: the names, the class. Only the virtual machine calls this (the metatable is locked), so argument 1 is an
 * object. */
static int class_index(lua_State *L)
{
	const struct xc_bind_class *class = lua_touserdata(L, lua_upvalueindex(2));
	if (lua_type(L, 2) != LUA_TSTRING)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s has only named members, not a %s", class->noun,
				    luaL_typename(L, 2));
	lua_pushvalue(L, 2);
	int kind = lua_rawget(L, lua_upvalueindex(1));
	if (kind == LUA_TFUNCTION)
		return 1;
	if (kind == LUA_TLIGHTUSERDATA) {
		const struct xc_bind_property *property = lua_touserdata(L, -1);
		property->push(L, lua_touserdata(L, 1));
		return 1;
	}
	lua_pushvalue(L, lua_upvalueindex(1));
	return no_such_name(L, class, lua_tostring(L, 2));
}

static int class_newindex(lua_State *L)
{
	const struct xc_bind_class *class = lua_touserdata(L, lua_upvalueindex(1));
	return xc_bind_fail(L, XC_ERR_USAGE, "%s cannot be changed", class->noun);
}

static void add_properties(lua_State *L, const struct xc_bind_class *class)
{
	for (const struct xc_bind_property *p = class->properties; p && p->name; p++) {
		lua_pushlightuserdata(L, (void *)p);
		lua_setfield(L, -2, p->name);
	}
}

void xc_bind_class_open(lua_State *L, const struct xc_bind_class *class)
{
	lua_createtable(L, 0, 8);
	if (class->metamethods)
		luaL_setfuncs(L, class->metamethods, 0);
	lua_newtable(L);
	add_properties(L, class);
	luaL_setfuncs(L, class->methods, 0);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, "names");
	lua_pushlightuserdata(L, (void *)class);
	lua_pushcclosure(L, class_index, 2);
	lua_setfield(L, -2, "__index");
	lua_pushlightuserdata(L, (void *)class);
	lua_pushcclosure(L, class_newindex, 1);
	lua_setfield(L, -2, "__newindex");
	lua_pushstring(L, class->name);
	lua_setfield(L, -2, "__name");
	lua_pushstring(L, class->name);
	lua_setfield(L, -2, "__metatable");
	lua_rawsetp(L, LUA_REGISTRYINDEX, class);
}

void xc_bind_class_add(lua_State *L, const struct xc_bind_class *class, const luaL_Reg *methods)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, class);
	lua_getfield(L, -1, "names");
	luaL_setfuncs(L, methods, 0);
	lua_pop(L, 2);
}

void *xc_bind_class_new(lua_State *L, const struct xc_bind_class *class, size_t size)
{
	void *object = lua_newuserdatauv(L, size, 2);
	memset(object, 0, size);
	lua_rawgetp(L, LUA_REGISTRYINDEX, class);
	lua_setmetatable(L, -2);
	return object;
}

void *xc_bind_class_test(lua_State *L, int arg, const struct xc_bind_class *class)
{
	void *object = lua_touserdata(L, arg);
	if (!object || !lua_getmetatable(L, arg))
		return NULL;
	lua_rawgetp(L, LUA_REGISTRYINDEX, class);
	bool is_ours = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return is_ours ? object : NULL;
}

void *xc_bind_class_check(lua_State *L, int arg, const struct xc_bind_class *class)
{
	void *object = xc_bind_class_test(L, arg, class);
	if (!object)
		luaL_typeerror(L, arg, class->name);
	return object;
}
