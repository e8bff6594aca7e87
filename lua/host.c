/* host: a Lua state with its libraries and limits. */
#include "host.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../dwarf/type.h"
#include "bind.h"
#include "accessor.h"
#include "require.h"

static int print(lua_State *L)
{
	struct xc_host *host = xc_bind_host(L);
	int count = lua_gettop(L);
	luaL_Buffer line;
	luaL_buffinit(L, &line);
	for (int i = 1; i <= count; i++) {
		if (i > 1)
			luaL_addchar(&line, '\t');
		luaL_tolstring(L, i, NULL);
		luaL_addvalue(&line);
	}
	luaL_pushresult(&line);
	if (host->options.output) {
		size_t len;
		const char *text = lua_tolstring(L, -1, &len);
		host->options.output(host->options.output_user, text, len);
	}
	return 0;
}

static int clock_seconds(lua_State *L)
{
	lua_pushnumber(L, (lua_Number)clock() / CLOCKS_PER_SEC);
	return 1;
}

static int open_xcore(lua_State *L)
{
	lua_newtable(L);
	lua_pushinteger(L, 1);
	lua_setfield(L, -2, "version");
	lua_pushcfunction(L, clock_seconds);
	lua_setfield(L, -2, "clock");
	xc_bind_error_open(L);
	xc_bind_value_open(L);
	xc_bind_ops_open(L);
	xc_bind_each_open(L);
	xc_bind_type_open(L);
	xc_bind_target_open(L);
	xc_bind_live_open(L);
	xc_bind_report_open(L);
	xc_bind_histogram_open(L);
	xc_bind_top_open(L);
	xc_bind_progress_open(L);
	return 1;
}

static void open_libraries(lua_State *L)
{
	static const luaL_Reg libraries[] = {
		{LUA_GNAME, luaopen_base},
		{LUA_TABLIBNAME, luaopen_table},
		{LUA_STRLIBNAME, luaopen_string},
		{LUA_MATHLIBNAME, luaopen_math},
		{LUA_UTF8LIBNAME, luaopen_utf8},
		{LUA_COLIBNAME, luaopen_coroutine},
		{"xcore", open_xcore},
		{NULL, NULL},
	};
	for (const luaL_Reg *library = libraries; library->name; library++) {
		luaL_requiref(L, library->name, library->func, 1);
		lua_pop(L, 1);
	}
	lua_pushcfunction(L, print);
	lua_setglobal(L, "print");
	xc_require_open(L);
}

struct xc_host *xc_host_new(const struct xc_host_options *options)
{
	struct xc_host *host = xc_alloc(sizeof *host);
	host->options = *options;
	host->limit.limits = options->limits;
	host->limit.name = options->name;
	host->process = options->process;
	host->window.lo = 1;
	host->accessors = xc_accessors_new(options->process);
	if (host->process) {
		host->types = xc_types_of(host->process);
		host->types->thorough = true;
	}
	host->L = lua_newstate(xc_limit_allocate, &host->limit);
	*(struct xc_host **)lua_getextraspace(host->L) = host;
	open_libraries(host->L);
	return host;
}

void xc_host_free(struct xc_host *host)
{
	if (!host)
		return;
	lua_close(host->L);
	xc_accessors_free(host->accessors);
	xc_paths_fini(&host->paths);
	xc_text_fini(&host->scratch);
	xc_limit_fini(&host->limit);
	xc_error_free(host->raised);
	free(host);
}

static int traceback(lua_State *L)
{
	if (lua_type(L, 1) == LUA_TSTRING)
		luaL_traceback(L, L, lua_tostring(L, 1), 1);
	return 1;
}

struct xc_error *xc_host_call(struct xc_host *host, int count)
{
	lua_State *L = host->L;
	int function = lua_gettop(L) - count;
	lua_pushcfunction(L, traceback);
	lua_insert(L, function);
	int status = lua_pcall(L, count, LUA_MULTRET, function);
	lua_remove(L, function);
	return status == LUA_OK ? NULL : xc_bind_error_take(L);
}

struct xc_error *xc_host_run(struct xc_host *host, const char *name, const char *text, size_t len,
			     const char *const *args, size_t arg_count)
{
	lua_State *L = host->L;
	char chunk[128];
	snprintf(chunk, sizeof chunk, "@%s", name);
	lua_settop(L, 0);
	xc_limit_start(&host->limit, L);
	if (luaL_loadbufferx(L, text, len, chunk, "t") != LUA_OK)
		return xc_bind_error_take(L);
	for (size_t i = 0; i < arg_count; i++)
		lua_pushstring(L, args[i]);
	return xc_host_call(host, (int)arg_count);
}
