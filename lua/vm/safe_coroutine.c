/* safe_coroutine: coroutines that a limit ends, with all coroutines that resumed them.
 *
 * A coroutine inherits the hook of its creator, with its own count from zero; so that many short coroutines are not
 * free, creating one costs one period. A coroutine that a limit has ended is not closed: its __close functions would
 * run in a thread whose hooks are off, since the error came from the hook. */
#include "lua/vm/bind.h"
#include "lua/vm/safe.h"

enum { CLOSING_DEPTH = 8 };

static lua_State *check_coroutine(lua_State *L)
{
	lua_State *co = lua_tothread(L, 1);
	luaL_argexpected(L, co, 1, "coroutine");
	return co;
}

static int coroutine_create(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TFUNCTION);
	xc_limit_spend(L, XC_LIMIT_PERIOD);
	lua_State *co = lua_newthread(L);
	lua_pushvalue(L, 1);
	lua_xmove(L, co, 1);
	return 1;
}

/* Resume with the `count` values at the top. Returns the number of results at the top, or -1 with an error there. */
static int resume(lua_State *L, lua_State *co, int count)
{
	struct xc_limit *limit = &xc_bind_host(L)->limit;
	int results = 0;
	if (!lua_checkstack(co, count)) {
		lua_pushliteral(L, "too many arguments to resume");
		return -1;
	}
	lua_xmove(L, co, count);
	limit->running = co;
	int status = lua_resume(co, L, count, &results);
	limit->running = L;
	bool failed = status != LUA_OK && status != LUA_YIELD;
	if (!failed && !lua_checkstack(L, results + 1)) {
		lua_pop(co, results);
		lua_pushliteral(L, "too many results to resume");
		return -1;
	}
	lua_xmove(co, L, failed ? 1 : results);
	xc_limit_check(L, status);
	return failed ? -1 : results;
}

static int coroutine_resume(lua_State *L)
{
	lua_State *co = check_coroutine(L);
	int results = resume(L, co, lua_gettop(L) - 1);
	lua_pushboolean(L, results >= 0);
	lua_insert(L, results >= 0 ? -(results + 1) : -2);
	return results >= 0 ? results + 1 : 2;
}

/* Close a coroutine: run its pending __close functions; an error goes to the top. Lua 5.4.4 counts the C calls of
 * each coroutine from where it was resumed, so a chain of coroutines that close each other would overflow the stack
 * of this process. */
static int reset(lua_State *L, lua_State *co)
{
	struct xc_limit *limit = &xc_bind_host(L)->limit;
	if (limit->closing >= CLOSING_DEPTH)
		luaL_error(L, "C stack overflow: a coroutine is closed while %d others are", CLOSING_DEPTH);
	limit->closing++;
	limit->running = co;
	int status = lua_resetthread(co);
	limit->running = L;
	limit->closing--;
	if (status != LUA_OK)
		lua_xmove(co, L, 1);
	xc_limit_check(L, status);
	return status;
}

static int call_wrapped(lua_State *L)
{
	lua_State *co = lua_tothread(L, lua_upvalueindex(1));
	int results = resume(L, co, lua_gettop(L));
	if (results >= 0)
		return results;
	if (lua_status(co) != LUA_OK && lua_status(co) != LUA_YIELD) {
		/* lua_resetthread takes the error from there */
		lua_xmove(L, co, 1);
		reset(L, co);
	}
	if (lua_type(L, -1) == LUA_TSTRING) { /* adds the place of the call */
		luaL_where(L, 1);
		lua_insert(L, -2);
		lua_concat(L, 2);
	}
	return lua_error(L);
}

static int coroutine_wrap(lua_State *L)
{
	coroutine_create(L);
	lua_pushcclosure(L, call_wrapped, 1);
	return 1;
}

/* Is it suspended in a resume of another coroutine? */
static bool is_normal(lua_State *co)
{
	lua_Debug at;
	return lua_status(co) == LUA_OK && lua_getstack(co, 0, &at);
}

static int coroutine_close(lua_State *L)
{
	lua_State *co = check_coroutine(L);
	if (co == L || is_normal(co))
		return luaL_error(L, "cannot close a %s coroutine", co == L ? "running" : "normal");
	bool clean = reset(L, co) == LUA_OK;
	lua_pushboolean(L, clean);
	if (clean)
		return 1;
	lua_insert(L, -2);
	return 2;
}

void xc_safe_coroutine(lua_State *L)
{
	static const luaL_Reg functions[] = {{"create", coroutine_create},
					     {"resume", coroutine_resume},
					     {"wrap", coroutine_wrap},
					     {"close", coroutine_close},
					     {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
}
