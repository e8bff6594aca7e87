/* safe_base: replacements for functions of the basic library, for limits and sandboxing. */
#include <string.h>

#include "lua/vm/bind.h"
#include "lua/vm/safe.h"

/* ---- protected calls: a limit goes through ---- */

static int finish_pcall(lua_State *L, int status, lua_KContext skipped)
{
	xc_limit_check(L, status);
	if (status == LUA_OK || status == LUA_YIELD)
		return lua_gettop(L) - (int)skipped;
	lua_pushboolean(L, false);
	lua_insert(L, -2);
	return 2;
}

static int base_pcall(lua_State *L)
{
	luaL_checkany(L, 1);
	lua_pushboolean(L, true);
	lua_insert(L, 1);
	return finish_pcall(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, finish_pcall), 0);
}

/* A message handler called for a limit would run without hooks. Upvalue: the script's handler. */
static int handle(lua_State *L)
{
	if (xc_limit_is_over(L, LUA_ERRRUN)) {
		xc_limit_trace(L);
		return 1;
	}
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}

static int base_xpcall(lua_State *L) /* function, handler, arguments */
{
	luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_pushvalue(L, 2);
	lua_pushcclosure(L, handle, 1);
	lua_replace(L, 2);
	lua_pushboolean(L, true);
	lua_pushvalue(L, 1);
	lua_rotate(L, 3, 2); /* function, handler, true, function, arguments */
	return finish_pcall(L, lua_pcallk(L, lua_gettop(L) - 4, LUA_MULTRET, 2, 2, finish_pcall), 2);
}

/* ---- metatables ---- */

static int base_setmetatable(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
	lua_settop(L, 2);
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return luaL_error(L, "cannot change a protected metatable");
	if (lua_istable(L, 2)) {
		lua_pushliteral(L, "__gc");
		if (lua_rawget(L, 2) != LUA_TNIL)
			return luaL_error(L, "__gc is not available: finalizers would run outside the limits");
	}
	lua_settop(L, 2);
	lua_setmetatable(L, 1);
	return 1;
}

/* Metatables of tables only: those of strings are shared, and those of target values are internal; only their name
 * is given. */
static int base_getmetatable(lua_State *L)
{
	luaL_checkany(L, 1);
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return 1;
	if (!lua_getmetatable(L, 1))
		lua_pushnil(L);
	else if (!lua_istable(L, 1))
		lua_pushstring(L, luaL_typename(L, 1));
	return 1;
}

/* ---- memory ---- */

static int base_collectgarbage(lua_State *L)
{
	static const char *const options[] = {"collect", "count", "step", NULL};
	enum { COLLECT, COUNT };
	const struct xc_limit *limit = &xc_bind_host(L)->limit;
	int option = luaL_checkoption(L, 1, "collect", options);
	if (option == COUNT) {
		lua_pushnumber(L, (lua_Number)limit->memory / 1024);
		return 1;
	}
	xc_limit_spend(L, limit->memory / 64);
	int answer = lua_gc(L, option == COLLECT ? LUA_GCCOLLECT : LUA_GCSTEP, 0);
	if (option == COLLECT)
		lua_pushinteger(L, 0);
	else
		lua_pushboolean(L, answer);
	return 1;
}

void xc_safe_base(lua_State *L)
{
	static const luaL_Reg functions[] = {{"pcall", base_pcall},
					     {"xpcall", base_xpcall},
					     {"setmetatable", base_setmetatable},
					     {"getmetatable", base_getmetatable},
					     {"collectgarbage", base_collectgarbage},
					     {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
	xc_safe_tostring(L);
	xc_safe_pairs(L);
}

/* ---- load ---- */

/* The stack slot that holds a piece from the reader function while Lua reads it. */
enum { CHUNK = 1, CHUNK_NAME, CHUNK_MODE, CHUNK_ENV, PIECE };

static const char *next_piece(lua_State *L, void *unused, size_t *len_out)
{
	(void)unused;
	luaL_checkstack(L, 2, "too many nested functions");
	lua_pushvalue(L, CHUNK);
	lua_call(L, 0, 1);
	*len_out = 0;
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		return NULL;
	}
	if (!lua_isstring(L, -1))
		luaL_error(L, "reader function must return a string");
	lua_replace(L, PIECE);
	const char *piece = lua_tolstring(L, PIECE, len_out);
	xc_limit_spend(L, 1 + *len_out / 16);
	return piece;
}

static int base_load(lua_State *L)
{
	bool has_env = !lua_isnone(L, CHUNK_ENV);
	/* never "b": crafted bytecode can corrupt the virtual machine */
	const char *mode = strchr(luaL_optstring(L, CHUNK_MODE, "t"), 't') ? "t" : "";
	size_t len;
	int status;
	lua_settop(L, PIECE);
	if (lua_isstring(L, CHUNK)) {
		const char *text = lua_tolstring(L, CHUNK, &len);
		status = luaL_loadbufferx(L, text, len, luaL_optstring(L, CHUNK_NAME, text), mode);
	} else {
		luaL_checktype(L, CHUNK, LUA_TFUNCTION);
		status = lua_load(L, next_piece, NULL, luaL_optstring(L, CHUNK_NAME, "=(load)"), mode);
	}
	xc_limit_check(L, status);
	if (status != LUA_OK) {
		luaL_pushfail(L);
		lua_insert(L, -2);
		return 2;
	}
	if (has_env) {
		lua_pushvalue(L, CHUNK_ENV);
		if (!lua_setupvalue(L, -2, 1))
			lua_pop(L, 1);
	}
	return 1;
}

void xc_safe_load(lua_State *L)
{
	lua_pushcfunction(L, base_load);
	lua_setfield(L, -2, "load");
}
