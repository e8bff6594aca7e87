/* layer: lua */
/* Patterns: the same answers and errors as Lua's own string library, but bounded. */
#include "tests/support/property.h"

#include "lua/vm/bind.h"
#include "lua/vm/pattern.h"

static struct xc_host host;

static int open_ours(lua_State *L)
{
	lua_newtable(L);
	xc_pattern_open(L);
	return 1;
}

static lua_State *open_state(uint64_t instructions)
{
	host = (struct xc_host){.limit = {.limits = {.instructions = instructions}, .name = "plugin test"}};
	lua_State *L = lua_newstate(xc_limit_allocate, &host.limit);
	host.L = L;
	*(struct xc_host **)lua_getextraspace(L) = &host;
	luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
	luaL_requiref(L, "ours", open_ours, 1);
	lua_settop(L, 0);
	xc_limit_start(&host.limit, L);
	return L;
}

static void close_state(lua_State *L)
{
	lua_close(L);
	xc_limit_fini(&host.limit);
}

/* ---- random cases ---- */

enum { MAX_ARGS = 5, MAX_TEXT = 4096, MAX_MATCHES = 40 };

struct call {
	char name[8];
	char subject[64], pattern[256];
	size_t subject_len, pattern_len;
	int replacement; /* for gsub: index into replacements; REPLACEMENT_COUNT: no replacement */
	bool has_start, plain;
	lua_Integer start;
};

static const char *const subjects[] = {"a", "b", "c", "A", "1", " ", "(", ")", "[", "]", "%", "aa", "ab", "-", "^"};
static const char *const items[] = {
	"a",      "b",    "c",      ".",    "%a",  "%w", "%d",   "%s",   "%p",    "%u",   "%x",    "%A",
	"%l",     "%c",   "%g",     "%z",   "%%",  "%.", "[ab]", "[^a]", "[a-c]", "[%d]", "[%w_]", "[]]",
	"[^]]",   "[a-]", "[%a-z]", "[-a]", "*",   "+",  "-",    "?",    "*",     "-",    "?",     "(",
	")",      "()",   "(a)",    "(.-)", "%1",  "%2", "%0",   "%b()", "%bab",  "%baa", "%f[a]", "%f[%w]",
	"%f[^a]", "%f",   "$",      "^",    "%",   "[",  "]",    "[^",   "a*",    ".-",   ".*",    "(a*)",
	"[c-a]",  "[%]",  "%b",     "%ba",  "[a%", "((", "))",
};
static const char *const replacements[] = {"", "x", "%0", "%1", "%2", "<%1%%%0>", "%", "%q", "%9", "x%1"};
enum { TABLE = XC_COUNT(replacements), FUNCTION, NUMBER, BOOLEAN, NONE, REPLACEMENT_COUNT };

static size_t make_text(struct rng *rng, char *text, size_t size, const char *const *parts, size_t count, size_t most)
{
	size_t len = 0;
	for (size_t n = rng_below(rng, most); n > 0; n--) {
		if (rng_below(rng, 40) == 0 && len + 1 < size) {
			text[len++] = (char)rng_below(rng, 256); /* including NUL */
			continue;
		}
		const char *part = parts[rng_below(rng, count)];
		size_t part_len = strlen(part);
		if (len + part_len >= size)
			break;
		memcpy(text + len, part, part_len);
		len += part_len;
	}
	return len;
}

static struct call make_call(struct rng *rng)
{
	static const char *const names[] = {"find", "match", "gmatch", "gsub"};
	struct call call = {0};
	snprintf(call.name, sizeof call.name, "%s", names[rng_below(rng, XC_COUNT(names))]);
	call.subject_len = make_text(rng, call.subject, sizeof call.subject, subjects, XC_COUNT(subjects), 14);
	call.pattern_len = make_text(rng, call.pattern, sizeof call.pattern, items, XC_COUNT(items), 8);
	call.replacement = (int)rng_below(rng, REPLACEMENT_COUNT);
	call.has_start = rng_below(rng, 4) == 0;
	call.start = rng_below(rng, 50) ? (lua_Integer)rng_below(rng, 24) - 10 : (lua_Integer)rng_next(rng);
	call.plain = rng_below(rng, 10) == 0;
	return call;
}

/* ---- calls, as lists of their results ---- */

static int answer(lua_State *L) /* gsub's function: depends on its arguments, and sometimes returns nothing */
{
	const char *text = luaL_tolstring(L, 1, NULL);
	switch (*text) {
	case 'a':
		return 0;
	case 'b':
		lua_pushboolean(L, 0);
		return 1;
	case 'c':
		lua_newtable(L);
		return 1;
	default:
		lua_pushfstring(L, "<%s:%d>", text, lua_gettop(L));
		return 1;
	}
}

static void push_replacement(lua_State *L, int which)
{
	if (which < (int)XC_COUNT(replacements)) {
		lua_pushstring(L, replacements[which]);
	} else if (which == TABLE) {
		lua_newtable(L);
		lua_pushliteral(L, "AA");
		lua_setfield(L, -2, "a");
		lua_pushboolean(L, 0);
		lua_setfield(L, -2, "b");
		lua_pushinteger(L, 7);
		lua_setfield(L, -2, "1");
		lua_pushboolean(L, 1);
		lua_setfield(L, -2, "ab");
	} else if (which == FUNCTION) {
		lua_pushcfunction(L, answer);
	} else if (which == NUMBER) {
		lua_pushnumber(L, 1.5);
	} else if (which == BOOLEAN) {
		lua_pushboolean(L, 1);
	}
}

static int push_arguments(lua_State *L, const struct call *call)
{
	int base = lua_gettop(L);
	lua_pushlstring(L, call->subject, call->subject_len);
	lua_pushlstring(L, call->pattern, call->pattern_len);
	if (strcmp(call->name, "gsub") == 0)
		push_replacement(L, call->replacement);
	if (call->has_start || call->plain)
		lua_pushinteger(L, call->start);
	if (call->plain)
		lua_pushboolean(L, 1);
	return lua_gettop(L) - base;
}

static void add_values(struct xc_text *text, lua_State *L, int from)
{
	for (int i = from; i <= lua_gettop(L); i++) {
		xc_text_printf(text, " %s:", luaL_typename(L, i));
		if (lua_isboolean(L, i)) {
			xc_text_printf(text, "%d", lua_toboolean(L, i));
		} else if (!lua_isnil(L, i) && !lua_isfunction(L, i)) {
			size_t len;
			const char *bytes = lua_tolstring(L, i, &len);
			xc_text_escaped(text, bytes ? bytes : "?", bytes ? len : 1);
		}
	}
}

/* "bad argument #3 to 'string.gsub'" */
static void drop_library(char *text, const char *library)
{
	char *named = strstr(text, library);
	for (; named; named = strstr(named + 1, library))
		if (named[strlen(library)] == '.')
			memmove(named, named + strlen(library), strlen(named + strlen(library)) + 1);
}

/* "ok string:ab number:3" or the error; for gmatch all its results. */
static char *run(lua_State *L, const char *library, const struct call *call)
{
	struct xc_text text = {0};
	int base = lua_gettop(L);
	lua_getglobal(L, library);
	lua_getfield(L, -1, call->name);
	lua_remove(L, -2);
	int status = lua_pcall(L, push_arguments(L, call), LUA_MULTRET, 0);
	luaL_checkstack(L, MAX_MATCHES * (LUA_MINSTACK + 32), NULL);
	for (int i = 0; status == LUA_OK && strcmp(call->name, "gmatch") == 0 && i < MAX_MATCHES; i++) {
		lua_pushvalue(L, base + 1);
		int before = lua_gettop(L);
		status = lua_pcall(L, 0, LUA_MULTRET, 0);
		if (lua_gettop(L) < before || lua_isnil(L, before))
			break;
	}
	xc_text_add(&text, status == LUA_OK ? "ok" : "error");
	add_values(&text, L, base + 1);
	if (status != LUA_OK)
		drop_library(text.bytes, library);
	lua_settop(L, base);
	return xc_text_take(&text);
}

static void check_same(lua_State *L, const struct call *call, uint64_t seed)
{
	char *wanted = run(L, "string", call), *got = run(L, "ours", call);
	if (strcmp(wanted, got) != 0)
		fail_msg("XC_SEED=%llu XC_CASES=1: %s(\"%s\", \"%s\", %d, %lld): wanted %s, got %s",
			 (unsigned long long)seed, call->name, call->subject, call->pattern, call->replacement,
			 (long long)call->start, wanted, got);
	free(wanted);
	free(got);
}

static lua_State *shared;

PROPERTY(patterns_do_what_lua_does, 60000, 400000)
{
	if (!shared)
		shared = open_state(0);
	struct call call = make_call(rng);
	check_same(shared, &call, rng->seed);
}

/* ---- cases by hand ---- */

static void repeat(struct call *call, const char *item, size_t times)
{
	call->pattern_len = 0;
	for (size_t i = 0; i < times && call->pattern_len + strlen(item) < sizeof call->pattern; i++) {
		memcpy(call->pattern + call->pattern_len, item, strlen(item));
		call->pattern_len += strlen(item);
	}
}

/* Patterns at and around Lua's own limits. */
static void bounds_are_luas(void **state)
{
	static const char *const repeated[] = {"a?", "a-", "()", "(", ")", "b*", "b?", "b-", "a", "(a)"};
	lua_State *L = open_state(0);
	(void)state;
	for (size_t i = 0; i < XC_COUNT(repeated); i++) {
		for (size_t times = 28; times < 130; times++) {
			struct call call = {.name = "match",
					    .subject = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
			call.subject_len = strlen(call.subject);
			repeat(&call, repeated[i], times);
			check_same(L, &call, 0);
		}
	}
	close_state(L);
}

/* Depth counts suffixes that matched something, wherever they are. */
static void depth_is_luas(void **state)
{
	lua_State *L = open_state(0);
	(void)state;
	for (int times = 195; times < 205; times++) {
		static const char code[] =
			"local n = ... local s, p = ('a'):rep(300), ('a?'):rep(n)\n"
			"local ok, why = pcall(string.match, s, p) local ok2, why2 = pcall(ours.match, s, p)\n"
			"return ok == ok2 and why == why2 and (ok or why == 'pattern too complex') and ok == (n < 200)";
		luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
		assert_int_equal(luaL_loadstring(L, code), LUA_OK);
		lua_pushinteger(L, times);
		assert_int_equal(lua_pcall(L, 1, 1, 0), LUA_OK);
		assert_true(lua_toboolean(L, -1));
		lua_settop(L, 0);
	}
	close_state(L);
}

/* ---- the limit ---- */

static void check_stopped(const char *code)
{
	lua_State *L = open_state(1000000);
	luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
	assert_int_equal(luaL_loadstring(L, code), LUA_OK);
	assert_int_not_equal(lua_pcall(L, 0, 0, 0), LUA_OK);
	assert_true(host.limit.tripped);
	assert_string_equal(host.limit.trip,
			    "plugin test: more than 1,000,000 instructions (raise it with --max-instructions)");
	assert_true(host.limit.steps < 1100000);
	close_state(L);
}

static void patterns_that_explode_are_stopped(void **state)
{
	(void)state;
	check_stopped("ours.find(('a'):rep(50), ('a*'):rep(50) .. 'b')");
	check_stopped("ours.match(('a'):rep(50), ('a-'):rep(50) .. 'b')");
	check_stopped("ours.gsub(('a'):rep(50), ('a?'):rep(50) .. ('(a)'):rep(20) .. 'b', '')");
	check_stopped("for x in ours.gmatch(('a'):rep(60), '(.*)(.*)(.*)(.*)(.*)b') do end");
	check_stopped("ours.find(('('):rep(3000), '%b()')");
	check_stopped("ours.find(('x'):rep(3000), '[' .. ('a'):rep(3000) .. ']')");
	check_stopped("ours.find(('x'):rep(5000), '[' .. ('a'):rep(100000) .. ']?y')");
	check_stopped("ours.find(('x'):rep(30000), '(.+)%1y')");
	check_stopped("local s = ('x'):rep(1000000) for i = 1, 100 do ours.find(s, 'y', 1, true) end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_do_what_lua_does),
		cmocka_unit_test(bounds_are_luas),
		cmocka_unit_test(depth_is_luas),
		cmocka_unit_test(patterns_that_explode_are_stopped),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (shared)
		close_state(shared);
	return failed;
}
