/* layer: lua tier: test */
/* The Lua state of scripts: limits of instructions, memory and time. */
#include <time.h>

#include "tests/support/check.h"
#include "tests/unit/lua/vm/hosted.h"

static void instructions_are_limited(void **state)
{
	(void)state;
	check_ends("while true do end", TOO_LONG);
	check_ends("::again:: goto again", TOO_LONG);
	check_ends("for i = 1, math.huge do end", TOO_LONG);
	check_ends("local function f() return f() end f()", TOO_LONG);
	check_ends("setmetatable(_G, {__index = function(t, k) while true do end end}) local x = nothing", TOO_LONG);
	check_ends("for k in function() return 1 end do end", TOO_LONG);
}

static void the_account_is_kept_to_the_instruction(void **state)
{
	(void)state;
	struct xc_host_options chosen = options();
	chosen.limits.instructions = 100000;
	CHECK_OK(run_with(&chosen, "for i = 1, 90000 do end"));
	CHECK_ERROR(run_with(&chosen, "for i = 1, 110000 do end"), XC_ERR_LIMIT, "more than 100,000 instructions");
}

static void a_limit_cannot_be_caught(void **state)
{
	(void)state;
	check_ends("while true do pcall(function() while true do end end) end", TOO_LONG);
	check_ends("pcall(function() while true do end end) print('on')", TOO_LONG);
	check_ends("pcall(pcall, pcall, function() while true do end end) print('on')", TOO_LONG);
	check_ends("xpcall(function() while true do end end, function(e) print(e) end) print('on')", TOO_LONG);
	check_ends("xpcall(function() while true do end end, function(e) while true do end end)", TOO_LONG);
	check_ends("xpcall(function() while true do end end, print)", TOO_LONG);
	check_ends("local x <close> = setmetatable({}, {__close = function() print('on') end}) while true do end",
		   TOO_LONG);
	check_ends("local x <close> = setmetatable({}, {__close = print}) while true do end", TOO_LONG);
	check_ends("pcall(function() local x <close> = setmetatable({}, {__close = function() while true do end end})"
		   " while true do end end)",
		   TOO_LONG);
	check_ends("load(function() while true do end end) print('on')", TOO_LONG);
	check_ends("pcall(string.gsub, 'x', '.', function() while true do end end) print('on')", TOO_LONG);
	check_ends("pcall(table.sort, {3, 2, 1}, function() while true do end end) print('on')", TOO_LONG);
	check_ends("local t = setmetatable({}, {__tostring = function() while true do end end}) pcall(tostring, t)"
		   " print('on')",
		   TOO_LONG);
	check_ends("error(setmetatable({}, {__tostring = function() while true do end end}))", TOO_LONG);
}

static void coroutines_are_limited(void **state)
{
	(void)state;
	check_ends("coroutine.wrap(function() while true do end end)()", TOO_LONG);
	check_ends("coroutine.resume(coroutine.create(function() while true do end end)) print('on')", TOO_LONG);
	check_ends("local c = coroutine.create(function() pcall(function() coroutine.yield() while true do end end)"
		   " print('on') end) coroutine.resume(c) coroutine.resume(c) print('on')",
		   TOO_LONG);
	check_ends(
		"coroutine.wrap(function() local x <close> = setmetatable({}, {__close = function() while true do end"
		" end}) while true do end end)()",
		TOO_LONG);
	check_ends(
		"local c = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() while"
		" true do end end}) coroutine.yield() end) coroutine.resume(c) coroutine.close(c) print('on')",
		TOO_LONG);
	/* each run starts a new count */
	check_ends("while true do coroutine.wrap(function() for i = 1, 400 do end end)() end", TOO_LONG);
	check_ends("while true do coroutine.create(print) end", TOO_LONG);
	check_ends("local function f() coroutine.wrap(f)() end pcall(f) while true do end", TOO_LONG);
	check_ends("local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true do c() end",
		   TOO_LONG);
}

/* Lua counts the C calls of each coroutine separately. */
static void coroutines_that_close_each_other_do_not_fill_the_stack(void **state)
{
	static const char chain[] =
		"local last for i = 1, 20000 do local before = last\n"
		"  last = coroutine.create(function() local x <close> = setmetatable({}, {__close = function()\n"
		"    if before then %s end end}) coroutine.yield() end) coroutine.resume(last) end\n"
		"print(coroutine.close(last))";
	const struct xc_host_options roomy = {.name = "test", .limits = {.memory = 256 << 20}, .output = take_line};
	static const char *const ways[] = {
		"coroutine.close(before)",
		"local function deep(n) if n > 0 then return ('x'):gsub('x', function() deep(n - 1) end) end"
		" coroutine.close(before) end for n = 180, 0, -1 do if pcall(deep, n) then break end end",
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(ways); i++) {
		xc_auto(xc_freep) char *code = xc_asprintf(chain, ways[i]);
		CHECK_OK(run_with(&roomy, code));
	}
	check_prints("local count = 0 for i = 1, 100 do local c = coroutine.create(function() local x <close> ="
		     " setmetatable({}, {__close = function() count = count + 1 end}) coroutine.yield() end)"
		     " coroutine.resume(c) coroutine.close(c) end print(count)",
		     "100\n");
}

static void memory_is_limited(void **state)
{
	(void)state;
	check_ends("local t = {} for i = 1, math.huge do t[i] = i end", TOO_LARGE);
	check_ends("local t = {} for i = 1, math.huge do t[i] = {} end", TOO_LARGE);
	check_ends("local t = {} for i = 1, math.huge do t['k' .. i] = i end", TOO_LARGE);
	check_ends("local s = 'x' while true do s = s .. s end", TOO_LARGE);
	check_ends("local s = ('x'):rep(1 << 40)", TOO_LARGE);
	check_ends("local s = pcall(string.rep, 'x', 1 << 40) print('on')", TOO_LARGE);
	check_ends("xpcall(string.rep, function() print('on') end, 'x', 1 << 40) print('on')", TOO_LARGE);
	check_ends("while true do pcall(function() local s = 'x' while true do s = s .. s end end) end", TOO_LARGE);
	check_ends("local t = {} for i = 1, 1e5 do t[i] = ('x'):rep(1000) end table.concat(t)", TOO_LARGE);
	check_ends("local t = {} for i = 1, 1e5 do t[i] = coroutine.create(print) end", TOO_LONG);
	check_ends("string.format(('%s'):rep(100), table.unpack(setmetatable({}, {__index = function() return"
		   " ('x'):rep(1000000) end}), 1, 100))",
		   TOO_LARGE);
	check_ends("table.pack(table.unpack({}, 1, 900000))", TOO_LARGE);
	check_ends("load('return {' .. ('{},'):rep(2000000) .. '}')", TOO_LARGE);
	check_ends("load(function() return 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' end)", TOO_LARGE);
	check_ends("('x'):rep(4000000):gsub('.', ('y'):rep(1000))", TOO_LARGE);
}

static void garbage_is_not_memory(void **state)
{
	(void)state;
	check_prints("for i = 1, 10 do local s = ('x'):rep(5000000) end print('done')", "done\n");
	check_prints("for i = 1, 20000 do local t = {} for k = 1, 10 do t[k] = {} end end print('done')", "done\n");
}

static void time_is_limited(void **state)
{
	struct timespec from, to;
	struct xc_host_options chosen = options();
	(void)state;
	chosen.limits = (struct xc_limits){.seconds = 0.2};
	clock_gettime(CLOCK_MONOTONIC, &from);
	CHECK_ERROR(run_with(&chosen, "while true do end"), XC_ERR_LIMIT,
		    "plugin test: more than 0.2 s (raise it with --max-time)");
	CHECK_ERROR(run_with(&chosen, "('a'):rep(60):find(('a*'):rep(60) .. 'b')"), XC_ERR_LIMIT, "more than 0.2 s");
	CHECK_ERROR(run_with(&chosen, "local s = ('x'):rep(50000000) while true do s = s:upper() end"), XC_ERR_LIMIT,
		    "more than 0.2 s");
	CHECK_ERROR(run_with(&chosen, "while true do collectgarbage() end"), XC_ERR_LIMIT, "more than 0.2 s");
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(to.tv_sec - from.tv_sec < 15);
}

static void wait_long(void *user, const char *line, size_t len)
{
	const struct timespec long_time = {.tv_nsec = 300000000};
	nanosleep(&long_time, NULL);
	take_line(user, line, len);
}

static void a_wait_for_a_cpu_may_be_no_end(void **state)
{
	static const char code[] = "print('a') for i = 1, 5000 do end print('b')";
	struct xc_host_options chosen = options();
	(void)state;
	chosen.output = wait_long;
	chosen.limits = (struct xc_limits){.seconds = 0.2};
	CHECK_ERROR(run_with(&chosen, code), XC_ERR_LIMIT, "more than 0.2 s");
	chosen.limits.may_starve = true;
	assert_null(run_with(&chosen, code));
	assert_string_equal(xc_text_string(&printed), "a\nb\n");
	CHECK_ERROR(run_with(&chosen, "while true do end"), XC_ERR_LIMIT, "more than 0.2 s");
}

/* Lua's own functions continue in C: no hook fires. */
static void loops_in_c_are_limited(void **state)
{
	(void)state;
	check_ends("('a'):rep(50):find(('a*'):rep(50) .. 'b')", TOO_LONG);
	check_ends("table.move({}, 1, math.maxinteger - 1, 2)", TOO_LONG);
	check_ends("table.move({}, -1 << 60, 1 << 60, 2)", TOO_LONG);
	check_ends("local t = setmetatable({}, {__len = function() return 1 << 60 end}) table.insert(t, 1, 1)",
		   TOO_LONG);
	check_ends("local t = setmetatable({}, {__len = function() return 1 << 60 end}) table.remove(t, 1)", TOO_LONG);
	check_ends("local t = setmetatable({}, {__len = function() return 1 << 60 end, __index = rawlen})"
		   " table.concat(t)",
		   TOO_LONG);
	check_ends("local t = setmetatable({}, {__len = function() return 1 << 20 end, __index = rawlen})"
		   " table.sort(t, rawequal)",
		   TOO_LARGE);
	check_ends("local t = {} for i = 1, 100000 do t[i] = i end table.sort(t, rawequal)", TOO_LONG);
	check_ends("pcall(table.sort, setmetatable({}, {__len = function() return 1 << 29 end}))", TOO_LARGE);
	check_ends("load(collectgarbage)", TOO_LONG);
	check_prints("print(#string.rep('', math.maxinteger), #string.rep('', math.maxinteger, ''))", "0\t0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_limited),
		cmocka_unit_test(the_account_is_kept_to_the_instruction),
		cmocka_unit_test(a_limit_cannot_be_caught),
		cmocka_unit_test(coroutines_are_limited),
		cmocka_unit_test(coroutines_that_close_each_other_do_not_fill_the_stack),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(garbage_is_not_memory),
		cmocka_unit_test(time_is_limited),
		cmocka_unit_test(a_wait_for_a_cpu_may_be_no_end),
		cmocka_unit_test(loops_in_c_are_limited),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xc_text_fini(&printed);
	return failed;
}
