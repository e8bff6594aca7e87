/* tostring: Lua's own shows where a table lies in the memory of xcore: another number in each run, and of use to an
 * attacker. Here a value without a text of its own has a number: the first that is shown is #1. The numbers are in a
 * table of the registry, whose keys are weak. */
#include <string.h>

#include "lua/vm/bind.h"
#include "lua/vm/safe.h"

static const char numbers_key, count_key;

/* Push the table of numbers. */
static void push_numbers(lua_State *L)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &numbers_key) != LUA_TNIL)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "k");
	lua_setfield(L, -2, "__mode");
	lua_setmetatable(L, -2);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &numbers_key);
}

static lua_Integer number_of(lua_State *L, int index)
{
	luaL_checkstack(L, 6, NULL);
	push_numbers(L);
	lua_pushvalue(L, index);
	lua_rawget(L, -2);
	lua_Integer number = lua_tointeger(L, -1);
	lua_pop(L, 1);
	if (!number) {
		lua_rawgetp(L, LUA_REGISTRYINDEX, &count_key);
		number = lua_tointeger(L, -1) + 1;
		lua_pop(L, 1);
		lua_pushinteger(L, number);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &count_key);
		lua_pushvalue(L, index);
		lua_pushinteger(L, number);
		lua_rawset(L, -3);
	}
	lua_pop(L, 1);
	return number;
}

const char *xc_bind_tolstring(lua_State *L, int index, size_t *len_out)
{
	const int type = lua_type(L, index);
	index = lua_absindex(L, index);
	if (type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING)
		return luaL_tolstring(L, index, len_out);
	if (luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
		lua_pop(L, 1);
		return luaL_tolstring(L, index, len_out);
	}
	const int name = luaL_getmetafield(L, index, "__name");
	if (name != LUA_TNIL && name != LUA_TSTRING)
		lua_pop(L, 1);
	if (name != LUA_TSTRING)
		lua_pushstring(L, lua_typename(L, type));
	lua_pushfstring(L, "%s: #%I", lua_tostring(L, -1), (LUAI_UACINT)number_of(L, index));
	lua_remove(L, -2);
	return lua_tolstring(L, -1, len_out);
}

static int base_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	xc_bind_tolstring(L, 1, NULL);
	return 1;
}

/* Lua's own function, called from here, knows neither its name nor the line of the script. */
static int raise_as_format(lua_State *L)
{
	if (lua_type(L, -1) == LUA_TSTRING) {
		luaL_where(L, 1);
		luaL_gsub(L, lua_tostring(L, -2), "to '?'", "to 'format'");
		lua_concat(L, 2);
	}
	return lua_error(L);
}

/* The arguments of %s as strings, then Lua's own. Upvalue: that. */
static int string_format(lua_State *L)
{
	const int count = lua_gettop(L);
	const char *format = luaL_checkstring(L, 1);
	for (int arg = 2; *format; format++) {
		if (*format != '%' || *++format == '%') {
			if (!*format)
				break;
			continue;
		}
		format += strspn(format, "-+ #0123456789.");
		if (!*format)
			break;
		if (*format == 'p')
			return luaL_error(L, "'%%p' is not available: it would show addresses of xcore");
		if (*format == 's' && arg <= count) {
			xc_bind_tolstring(L, arg, NULL);
			lua_replace(L, arg);
		}
		arg++;
	}
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	const int status = lua_pcall(L, count, 1, 0);
	xc_limit_check(L, status);
	return status == LUA_OK ? 1 : raise_as_format(L);
}

void xc_safe_tostring(lua_State *L)
{
	lua_pushcfunction(L, base_tostring);
	lua_setfield(L, -2, "tostring");
}

void xc_safe_format(lua_State *L)
{
	lua_getfield(L, -1, "format");
	lua_pushcclosure(L, string_format, 1);
	lua_setfield(L, -2, "format");
}

void xc_safe_files(lua_State *L)
{
	if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE) {
		lua_pushnil(L);
		lua_setfield(L, -2, "__tostring");
	}
	lua_pop(L, 1);
}
