/* safe: opens the libraries. */
#include "lua/vm/safe.h"

#include "lua/vm/bind.h"
#include "lua/vm/pattern.h"
#include "lua/vm/require.h"

/* Any value, but the same in each run. */
enum { SEED = 20240601 };

static void open_library(lua_State *L, const char *name, lua_CFunction open, void (*change)(lua_State *))
{
	luaL_requiref(L, name, open, 1);
	if (change)
		change(L);
	lua_pop(L, 1);
}

static void forget(lua_State *L, const char *name)
{
	lua_pushnil(L);
	lua_setfield(L, -2, name);
}

static void change_base(lua_State *L)
{
	xc_safe_base(L);
	xc_safe_load(L);
	forget(L, "dofile");
	forget(L, "loadfile");
	forget(L, "warn");
}

static void change_string(lua_State *L)
{
	xc_safe_string(L);
	xc_safe_format(L);
	xc_pattern_open(L);
}

static void forget_dump(lua_State *L)
{
	change_string(L);
	forget(L, "dump");
}

/* Without arguments Lua would use the time. Upvalue: the original function. */
static int randomseed(lua_State *L)
{
	if (lua_gettop(L) == 0)
		lua_pushinteger(L, SEED);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

static void change_math(lua_State *L)
{
	lua_getfield(L, -1, "randomseed");
	lua_pushcclosure(L, randomseed, 1);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, "randomseed");
	lua_call(L, 0, 0);
}

static int open_traceback(lua_State *L)
{
	luaopen_debug(L);
	lua_newtable(L);
	lua_getfield(L, -2, "traceback");
	lua_setfield(L, -2, "traceback");
	return 1;
}

/* Set package.path, so that Lua's own require finds parts of plugins. */
static void prepend_module_dirs(lua_State *L)
{
	const struct xc_host *host = xc_bind_host(L);
	luaL_Buffer path;
	lua_getfield(L, -1, "path");
	luaL_buffinit(L, &path);
	for (size_t i = 0; i < host->options.module_dir_count; i++) {
		luaL_addstring(&path, host->options.module_dirs[i]);
		luaL_addstring(&path, "/?.lua;");
	}
	luaL_pushresult(&path);
	lua_insert(L, -2);
	lua_concat(L, 2);
	lua_setfield(L, -2, "path");
}

static void open_unsafe(lua_State *L)
{
	open_library(L, LUA_GNAME, luaopen_base, xc_safe_base);
	open_library(L, LUA_LOADLIBNAME, luaopen_package, prepend_module_dirs);
	open_library(L, LUA_IOLIBNAME, luaopen_io, xc_safe_files);
	open_library(L, LUA_OSLIBNAME, luaopen_os, NULL);
	open_library(L, LUA_DBLIBNAME, luaopen_debug, NULL);
	open_library(L, LUA_STRLIBNAME, luaopen_string, change_string);
}

static void open_safe(lua_State *L)
{
	open_library(L, LUA_GNAME, luaopen_base, change_base);
	open_library(L, LUA_DBLIBNAME, open_traceback, NULL);
	open_library(L, LUA_STRLIBNAME, luaopen_string, forget_dump);
	xc_require_open(L);
}

void xc_safe_open(lua_State *L, bool unsafe)
{
	if (unsafe)
		open_unsafe(L);
	else
		open_safe(L);
	open_library(L, LUA_COLIBNAME, luaopen_coroutine, xc_safe_coroutine);
	open_library(L, LUA_MATHLIBNAME, luaopen_math, change_math);
	open_library(L, LUA_TABLIBNAME, luaopen_table, xc_safe_table);
	open_library(L, LUA_UTF8LIBNAME, luaopen_utf8, NULL);
}
