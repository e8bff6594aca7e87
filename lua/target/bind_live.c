/* bind_live: functions for processes that change while they are read: xcore.refresh, snapshot, retry. For a core they
 * do nothing, so scripts need not distinguish.
 *
 * A torn read is detected by generation words that the program itself maintains (a sequence lock, a counter of
 * changes): they are read before and after, past the cache, and the data between counts only when they are equal.
 * The cache is dropped before each try, so that no data is older than the first read of the words. */
#include "lua/vm/bind.h"

#include <string.h>

#include "core/live/live.h"
#include "heap/session/session.h"

enum { TRIES = 5, MAX_TRIES = 1000, MAX_WORDS = 64, MAX_WORD = 4096 };

/* The process, if it is a running one. */
static struct xc_process *living(lua_State *L)
{
	struct xc_process *process = xc_bind_host(L)->process;
	return process && process->live ? process : NULL;
}

static int live_refresh(lua_State *L)
{
	struct xc_host *host = xc_bind_host(L);
	if (!living(L))
		return 0;
	xc_live_refresh(host->process);
	xc_heap_invalidate(host->process);
	xc_bind_forget_bytes(host);
	return 0;
}

/* The bytes of the value at `arg`; for a pointer those of its target. */
static uint64_t extent(lua_State *L, int arg, xc_addr *addr_out)
{
	const struct xc_lua_value *self = xc_bind_check(L, arg);
	struct xc_value value = xc_bind_value(L, self);
	bool pointer = self->form == XC_FORM_POINTER;
	const struct xc_type *type = pointer ? self->shape : value.type;
	uint64_t size;
	*addr_out = pointer ? self->addr : value.addr;
	if (!pointer && (value.kind != XC_VALUE_MEMORY || value.bit_size > 0))
		xc_bind_fail(L, XC_ERR_ABSENT, "it has no address");
	if (!xc_type_size(type, &size) && !xc_type_size(xc_bind_shape(type), &size))
		xc_bind_fail(L, XC_ERR_USAGE, "the size of %s is not known", xc_type_name(type));
	return size;
}

/* A core does not change; missing memory is an error there as in a running process. */
static struct xc_error *check_readable(const struct xc_process *process, xc_addr addr, uint64_t len)
{
	uint8_t bytes[MAX_WORD];
	struct xc_error *err = NULL;
	for (size_t step; len && !err; addr += step, len -= step) {
		step = len < sizeof bytes ? (size_t)len : sizeof bytes;
		err = xc_space_read(process->space, addr, bytes, step);
	}
	return err;
}

static int live_snapshot(lua_State *L)
{
	struct xc_process *process = xc_bind_process(L);
	xc_addr addr;
	uint64_t len = 0;
	if (xc_bind_test(L, 1))
		len = extent(L, 1, &addr);
	else
		addr = xc_bind_check_address(L, 1);
	if (!xc_bind_test(L, 1) || !lua_isnoneornil(L, 2)) {
		lua_Integer given = luaL_checkinteger(L, 2);
		if (given < 0)
			return xc_bind_fail(L, XC_ERR_USAGE, "the size of the snapshot is negative");
		len = (uint64_t)given;
	}
	struct xc_error *err = living(L) ? xc_live_freeze(process, addr, len) : check_readable(process, addr, len);
	return xc_bind_raise(L, err ? xc_error_wrap(err, "snapshot") : NULL);
}

/* ---- retry ---- */

enum { AT_FN = 1, AT_WORDS, AT_BEFORE, AT_RESULTS }; /* stack of retry */

/* Push the current contents of a word: bytes of a reference, or the result of a function. */
static void push_word(lua_State *L, int arg)
{
	if (lua_isfunction(L, arg)) {
		lua_pushvalue(L, arg);
		lua_call(L, 0, 1);
		return;
	}
	xc_addr addr;
	uint8_t bytes[MAX_WORD];
	uint64_t size = extent(L, arg, &addr);
	if (size > sizeof bytes)
		xc_bind_fail(L, XC_ERR_LIMIT, "retry: a word of more than %d bytes", MAX_WORD);
	size_t got = xc_live_reread(xc_bind_host(L)->process, addr, bytes, size);
	lua_pushlstring(L, (const char *)bytes, got);
}

/* Store the words as they were before. */
static void look_before(lua_State *L, size_t count)
{
	for (size_t i = 1; i <= count; i++) {
		lua_rawgeti(L, AT_WORDS, (lua_Integer)i);
		push_word(L, lua_gettop(L));
		lua_rawseti(L, AT_BEFORE, (lua_Integer)i);
		lua_pop(L, 1);
	}
}

static bool changed_since(lua_State *L, size_t count)
{
	bool changed = false;
	for (size_t i = 1; i <= count && !changed; i++) {
		lua_rawgeti(L, AT_WORDS, (lua_Integer)i);
		push_word(L, lua_gettop(L));
		lua_rawgeti(L, AT_BEFORE, (lua_Integer)i);
		changed = !lua_rawequal(L, -1, -2);
		lua_pop(L, 3);
	}
	return changed;
}

/* Is it an error that is worth another try: a fault, or as the script decides? */
static bool is_fault(lua_State *L, int index)
{
	if (!lua_istable(L, index))
		return false;
	lua_pushliteral(L, "kind");
	lua_rawget(L, index);
	const char *kind = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
	bool fault = strcmp(kind, "fault") == 0 || strcmp(kind, "torn") == 0;
	lua_pop(L, 1);
	return fault;
}

/* One try; its results, or its error, are on the stack from AT_RESULTS on. True: the results count. Raises errors
 * that are not faults, and with `last` a fault during which no word changed. */
static bool try_once(lua_State *L, struct xc_process *process, size_t words, bool last)
{
	lua_settop(L, AT_BEFORE);
	xc_live_forget(process);
	look_before(L, words);
	lua_pushvalue(L, AT_FN);
	int status = lua_pcall(L, 0, LUA_MULTRET, 0);
	xc_limit_check(L, status);
	luaL_checkstack(L, 8, "retry");
	xc_live_forget(process);
	bool changed = changed_since(L, words), fault = status != LUA_OK && is_fault(L, AT_RESULTS);
	if (status == LUA_OK && !changed)
		return true;
	if (status != LUA_OK && !changed && (!fault || last || xc_live_gone(process)))
		lua_error(L);
	xc_live_count_torn(process);
	if (fault) { /* it may be in memory that was mapped since */
		xc_live_remap(process);
		xc_bind_forget_bytes(xc_bind_host(L));
	}
	return false;
}

/* The options: leaves the words at AT_WORDS, and an empty table at AT_BEFORE. */
static lua_Integer read_options(lua_State *L, size_t *words_out)
{
	lua_Integer tries = TRIES;
	lua_settop(L, 2);
	if (lua_isnil(L, 2))
		lua_newtable(L);
	else
		luaL_checktype(L, 2, LUA_TTABLE);
	lua_getfield(L, -1, "tries");
	if (!lua_isnil(L, -1))
		tries = luaL_checkinteger(L, -1);
	lua_getfield(L, -2, "words");
	if (lua_isnil(L, -1))
		lua_newtable(L);
	luaL_checktype(L, -1, LUA_TTABLE);
	*words_out = lua_rawlen(L, -1);
	if (tries < 1 || tries > MAX_TRIES || *words_out > MAX_WORDS)
		xc_bind_fail(L, XC_ERR_USAGE, "retry: from 1 to %d tries, and at most %d words", MAX_TRIES, MAX_WORDS);
	lua_replace(L, AT_WORDS);
	lua_settop(L, AT_WORDS);
	lua_newtable(L);
	return tries;
}

static int live_retry(lua_State *L)
{
	size_t words;
	luaL_checktype(L, AT_FN, LUA_TFUNCTION);
	lua_Integer tries = read_options(L, &words);
	struct xc_process *process = living(L);
	if (!process) {
		lua_settop(L, AT_FN);
		lua_call(L, 0, LUA_MULTRET);
		return lua_gettop(L);
	}
	for (lua_Integer i = 1; i <= tries; i++)
		if (try_once(L, process, words, i == tries))
			return lua_gettop(L) - AT_BEFORE;
	return xc_bind_fail(L, XC_ERR_TORN, "the data changed during each of %d tries", (int)tries);
}

void xc_bind_live_open(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"refresh", live_refresh},
		{"snapshot", live_snapshot},
		{"retry", live_retry},
		{NULL, NULL},
	};
	luaL_setfuncs(L, functions, 0);
}
