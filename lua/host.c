/* host: a Lua state with its libraries and limits, and the handling of a script's errors.
 *
 * Between protected calls nothing here may allocate Lua memory: an error would have no handler. So errors are
 * converted in the message handler, and arguments are pushed by a function that is called like a script. */
#include "lua/vm/host.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dwarf/types/type.h"
#include "lua/vm/bind.h"
#include "lua/target/bind_samples.h"
#include "lua/target/bind_stacks.h"
#include "lua/bind/accessor.h"
#include "lua/cdef/cdef.h"
#include "lua/vm/safe.h"

static int print(lua_State *L)
{
	struct xc_host *host = xc_bind_host(L);
	int count = lua_gettop(L);
	size_t len;
	luaL_Buffer buffer;
	luaL_buffinit(L, &buffer);
	for (int i = 1; i <= count; i++) {
		if (i > 1)
			luaL_addchar(&buffer, '\t');
		xc_bind_tolstring(L, i, NULL);
		luaL_addvalue(&buffer);
	}
	luaL_pushresult(&buffer);
	const char *line = lua_tolstring(L, -1, &len);
	xc_limit_print(L, line, len);
	if (host->options.output)
		host->options.output(host->options.output_user, line, len);
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
	xc_bind_bulk_open(L);
	xc_bind_gather_open(L);
	xc_bind_tally_open(L);
	xc_bind_graph_open(L);
	xc_bind_chains_open(L);
	xc_bind_type_open(L);
	xc_bind_target_open(L);
	xc_bind_live_open(L);
	xc_bind_cdef_open(L);
	xc_bind_report_open(L);
	xc_bind_stacks_open(L);
	xc_bind_samples_open(L);
	xc_bind_histogram_open(L);
	xc_bind_top_open(L);
	xc_bind_progress_open(L);
	return 1;
}

/* Scripts allocate tables of megabytes and drop them. By default the C library returns their pages each time, and
 * the kernel clears them again: a fifth of the cost of a table. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

struct xc_host *xc_host_new(const struct xc_host_options *options)
{
	keep_memory();
	struct xc_host *host = xc_alloc(sizeof *host);
	host->options = *options;
	host->limit.limits = options->limits;
	host->limit.name = options->name;
	host->process = options->process;
	host->window.lo = 1;
	host->views.process = options->process;
	host->accessors = xc_accessors_new(options->process);
	if (host->process) {
		host->types = xc_types_of(host->process);
		host->types->thorough = true;
	}
	host->L = lua_newstate(xc_limit_allocate, &host->limit);
	if (!host->L)
		abort(); /* out of memory is fatal, as in xc_alloc */
	*(struct xc_host **)lua_getextraspace(host->L) = host;
	xc_safe_open(host->L, options->unsafe);
	lua_pushcfunction(host->L, print);
	lua_setglobal(host->L, "print");
	luaL_requiref(host->L, "xcore", open_xcore, true);
	lua_settop(host->L, 0);
	return host;
}

void xc_host_free(struct xc_host *host)
{
	if (!host)
		return;
	lua_close(host->L);
	xc_cdef_free(host->cdef);
	xc_accessors_free(host->accessors);
	xc_paths_fini(&host->paths);
	xc_text_fini(&host->scratch);
	xc_text_fini(&host->shown);
	xc_limit_fini(&host->limit);
	xc_error_free(host->raised);
	xc_error_free(host->failed);
	free(host);
}

/* ---- errors ---- */

/* A traceback as the lines of an error: without tabs, and without the functions by which scripts are called. */
static void set_trace(struct xc_error *err, const char *trace)
{
	static const char title[] = "stack traceback:", outside[] = "\n\t[C]: in ?";
	const size_t outside_len = sizeof outside - 1;
	size_t len = strlen(trace);
	struct xc_text text = {0};
	while (len >= outside_len && memcmp(trace + len - outside_len, outside, outside_len) == 0)
		len -= outside_len;
	if (len < sizeof title)
		return;
	for (size_t i = 0; i < len; i++)
		xc_text_add(&text, trace[i] == '\t' ? "  " : (char[]){trace[i], '\0'});
	xc_error_lines(err, xc_text_string(&text));
	xc_text_fini(&text);
}

static int to_string(lua_State *L)
{
	xc_bind_tolstring(L, 1, NULL);
	return 1;
}

/* Convert an error value that is neither a string nor an xcore.Error to a string at the top: by its __tostring or
 * its `message`. */
static void push_description(lua_State *L)
{
	const char *type = luaL_typename(L, 1);
	if (xc_limit_is_over(L, LUA_OK)) /* a limit was reached: hooks may be off */
		return;
	if (lua_isnoneornil(L, 1) || lua_isboolean(L, 1) || lua_isnumber(L, 1)) {
		xc_bind_tolstring(L, 1, NULL);
		lua_pushfstring(L, "%s was raised as an error", lua_tostring(L, -1));
		return;
	}
	if (luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL) {
		lua_pushcfunction(L, to_string);
		lua_pushvalue(L, 1);
		if (lua_pcall(L, 1, 1, 0) != LUA_OK)
			lua_pushfstring(L, "a %s was raised as an error, and its __tostring failed", type);
		return;
	}
	if (lua_istable(L, 1)) {
		lua_pushliteral(L, "message");
		if (lua_rawget(L, 1) == LUA_TSTRING)
			return;
	}
	lua_pushfstring(L, "a %s was raised as an error", type);
}

/* A message that grew while it was passed on (nested coroutines each add their place) is cut in the middle. */
static void shorten(struct xc_error *err)
{
	enum { FIRST = 600, LAST = 200 };
	size_t len = strlen(err->message);
	if (len <= FIRST + LAST)
		return;
	char *cut = xc_asprintf("%.*s … %s", FIRST, err->message, err->message + len - LAST);
	free(err->message);
	err->message = cut;
}

/* The message handler. It stores the error in host->failed and host->limit; the error value itself is passed on. */
static int keep_failure(lua_State *L)
{
	struct xc_host *host = xc_bind_host(L);
	lua_settop(L, 1);
	xc_error_free(xc_take(host->failed));
	lua_pushvalue(L, 1);
	if (!xc_bind_error_is(L, 1) && lua_type(L, 1) != LUA_TSTRING)
		push_description(L);
	if (xc_limit_is_over(L, LUA_ERRRUN)) {
		xc_limit_trace(L);
	} else {
		bool answers = xc_bind_error_answers(L, 1);
		host->failed = xc_bind_error_take(L);
		shorten(host->failed);
		luaL_traceback(L, L, NULL, 1);
		if (!answers)
			set_trace(host->failed, lua_tostring(L, -1));
	}
	lua_settop(L, 1);
	return 1;
}

/* Handle the status of a call; the error value is at the top. */
static struct xc_error *take_failure(struct xc_host *host, int status)
{
	struct xc_error *err = xc_take(host->failed);
	if (xc_limit_is_over(host->L, status)) {
		xc_error_free(err);
		err = xc_error_new(XC_ERR_LIMIT, "%s", host->limit.trip);
		if (host->limit.trace.len > 0)
			set_trace(err, xc_text_string(&host->limit.trace));
	}
	if (!err) /* an error in the message handler itself: the stack was full */
		err = xc_error_new(XC_ERR_FORMAT, "%s",
				   lua_type(host->L, -1) == LUA_TSTRING ? lua_tostring(host->L, -1)
									: "an error while an error was handled");
	return err;
}

/* ---- runs ---- */

struct xc_error *xc_host_call(struct xc_host *host, int count)
{
	lua_State *L = host->L;
	int function = lua_gettop(L) - count;
	xc_error_free(xc_take(host->failed));
	host->calls++;
	xc_limit_wake(&host->limit);
	lua_pushcfunction(L, keep_failure);
	lua_insert(L, function);
	int status = lua_pcall(L, count, LUA_MULTRET, function);
	struct xc_error *err = status == LUA_OK && !host->limit.tripped ? NULL : take_failure(host, status);
	lua_remove(L, function);
	if (err)
		lua_settop(L, function - 1);
	if (!--host->calls)
		xc_limit_rest(&host->limit);
	return err;
}

struct chunk {
	const char *name, *text;
	size_t len;
	const char *const *args;
	size_t arg_count;
};

static int run_chunk(lua_State *L)
{
	const struct chunk *chunk = lua_touserdata(L, 1);
	int count = (int)chunk->arg_count;
	if (chunk->len > 0 && chunk->text[0] == LUA_SIGNATURE[0])
		return xc_bind_fail(L, XC_ERR_FORMAT, "%s: a binary chunk; only text can be run", chunk->name);
	int status = luaL_loadbufferx(L, chunk->text, chunk->len, lua_pushfstring(L, "@%s", chunk->name), "t");
	if (status != LUA_OK)
		return lua_error(L);
	luaL_checkstack(L, count + LUA_MINSTACK, "too many arguments");
	lua_createtable(L, count, 0);
	for (int i = 0; i < count; i++) {
		lua_pushstring(L, chunk->args[i]);
		lua_rawseti(L, -2, i + 1);
	}
	lua_setglobal(L, "arg");
	for (int i = 0; i < count; i++)
		lua_pushstring(L, chunk->args[i]);
	lua_call(L, count, LUA_MULTRET);
	return lua_gettop(L) - 2;
}

struct xc_error *xc_host_run(struct xc_host *host, const char *name, const char *text, size_t len,
			     const char *const *args, size_t arg_count)
{
	struct chunk chunk = {name, text, len, args, arg_count};
	lua_settop(host->L, 0);
	xc_limit_start(&host->limit, host->L);
	lua_pushcfunction(host->L, run_chunk);
	lua_pushlightuserdata(host->L, &chunk);
	return xc_host_call(host, 1);
}
