/* layer: lua */
/* The Lua state of scripts: accessible functions, limits, and error messages. */
#include "tests/support/check.h"

#include <time.h>

#include "lua/vm/bind.h"

/* ---- running ---- */

enum { INSTRUCTIONS = 2000000, MEMORY = 16 << 20 };

static struct xc_text printed;

static void take_line(void *user, const char *line, size_t len)
{
	(void)user;
	xc_text_addn(&printed, line, len);
	xc_text_char(&printed, '\n');
}

static struct xc_host_options options(void)
{
	return (struct xc_host_options){.name = "plugin test",
					.limits = {.instructions = INSTRUCTIONS, .memory = MEMORY, .seconds = 20},
					.output = take_line};
}

static struct xc_error *run_with(const struct xc_host_options *chosen, const char *code)
{
	struct xc_host *host = xc_host_new(chosen);
	xc_text_fini(&printed);
	struct xc_error *err = xc_host_run(host, "test.lua", code, strlen(code), NULL, 0);
	xc_host_free(host);
	return err;
}

static struct xc_error *run(const char *code)
{
	struct xc_host_options chosen = options();
	return run_with(&chosen, code);
}

/* The script runs to its end and prints this. */
static void check_prints(const char *code, const char *wanted)
{
	struct xc_error *err = run(code);
	if (err)
		fail_msg("%s: %s\n%s", code, err->message, err->lines);
	if (strcmp(xc_text_string(&printed), wanted) != 0)
		fail_msg("%s: printed \"%s\"", code, xc_text_string(&printed));
}

/* The script fails with this message; it prints nothing. */
static void check_fails(const char *code, const char *message)
{
	struct xc_error *err = run(code);
	if (!err)
		fail_msg("%s: no error", code);
	if (!strstr(err->message, message))
		fail_msg("%s: %s", code, err->message);
	assert_string_equal(xc_text_string(&printed), "");
	xc_error_free(err);
}

/* A limit ends it with its message, and nothing is printed afterwards. */
static void check_ends(const char *code, const char *message)
{
	struct xc_error *err = run(code);
	if (!err)
		fail_msg("%s: no error, printed %s", code, xc_text_string(&printed));
	if (err->code != XC_ERR_LIMIT || strcmp(err->message, message) != 0)
		fail_msg("%s: %s", code, err->message);
	if (!err->lines || !strstr(err->lines, "test.lua:"))
		fail_msg("%s: %s\n%s", code, err->message, err->lines ? err->lines : "no traceback");
	if (printed.len > 0)
		fail_msg("%s: printed \"%s\"", code, xc_text_string(&printed));
	xc_error_free(err);
}

#define TOO_LONG  "plugin test: more than 2,000,000 instructions (raise it with --max-instructions)"
#define TOO_LARGE "plugin test: more than 16.0 MiB of memory (raise it with --max-memory)"

/* ---- limits ---- */

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

/* A plugin that is only listed, by `xcore plugin list`. */
static void without_a_target_nothing_of_one_is_told(void **state)
{
	static const char *const calls[] = {
		"xcore.symbol(4096)",        "xcore.snapshot(4096, 1)",  "xcore.sizeof('int')",
		"xcore.cast(1, 'int')",      "xcore.offsetof('s', 'x')", "xcore.container_of(1, 's', 'x')",
		"xcore.target.live",         "xcore.target:u8(1)",       "xcore.target:find{bytes = 'x'}",
		"xcore.target:symbolize(1)", "xcore.target:var 'x'",     "xcore.target:threads()",
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(calls); i++) {
		xc_auto(xc_freep) char *code = xc_asprintf("local x = %s", calls[i]);
		check_fails(code, "there is no");
	}
	check_prints("print(xcore.refresh(), xcore.retry(function() return 7 end), xcore.fmt(1, {letter = 'x'}), "
		     "xcore.symbol(nil))",
		     "nil\t7\t1\tnil\n");
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

/* ---- available functions ---- */

static void nothing_reaches_outside(void **state)
{
	(void)state;
	check_prints("print(io, os, package, dofile, loadfile, warn, string.dump, debug.getinfo, debug.sethook)",
		     "nil\tnil\tnil\tnil\tnil\tnil\tnil\tnil\tnil\n");
	check_prints(
		"local names = {} for k in pairs(_G) do names[#names + 1] = k end table.sort(names)"
		" print(table.concat(names, ' '))",
		"_G _VERSION arg assert collectgarbage coroutine debug error getmetatable ipairs load math next pairs "
		"pcall print rawequal rawget rawlen rawset require select setmetatable string table tonumber "
		"tostring type utf8 xcore xpcall\n");
	check_prints(
		"local names = {} for k in pairs(debug) do names[#names + 1] = k end print(table.concat(names, ' '))",
		"traceback\n");
	check_prints("print(pcall(require, 'io'))",
		     "false\ttest.lua:1: require \"io\": expected a part of a plugin, \"NAME.part\", "
		     "or a walker, \"lib.walk\"\n");
}

static void bytecode_is_refused(void **state)
{
	(void)state;
	check_prints("print(load('\\27Lua'))", "nil\tattempt to load a binary chunk (mode is 't')\n");
	check_prints("print(load('\\27Lua', 'x', 'b'))", "nil\tattempt to load a binary chunk (mode is '')\n");
	check_prints("print(load('\\27Lua', 'x', 'bt'))", "nil\tattempt to load a binary chunk (mode is 't')\n");
	check_prints(
		"local n = 0 print(load(function() n = n + 1 return n == 1 and string.char(27) or n == 2 and 'Lua' or"
		" nil end))",
		"nil\tattempt to load a binary chunk (mode is 't')\n");
	check_prints("print(load('return 1', 'x', 'b'))", "nil\tattempt to load a text chunk (mode is '')\n");
	CHECK_ERROR(run("\x1bLua"), XC_ERR_FORMAT, "binary chunk");
}

static void text_is_loaded(void **state)
{
	(void)state;
	check_prints("print(load('return 1 + ...')(2))", "3\n");
	check_prints("print(load('x = 1; return x', 'n', 't', {})(), x)", "1\tnil\n");
	check_prints(
		"local parts = {'return ', '7'} local i = 0 print(load(function() i = i + 1 return parts[i] end)())",
		"7\n");
	check_prints("print(load('x ='))", "nil\t[string \"x =\"]:1: unexpected symbol near <eof>\n");
	check_prints("print(load('x =', '=name'))", "nil\tname:1: unexpected symbol near <eof>\n");
	check_prints("print(load(function() error('no', 0) end))", "nil\tno\n");
	check_prints("print(load(function() return {} end))",
		     "nil\ttest.lua:1: reader function must return a string\n");
}

static void finalizers_are_refused(void **state)
{
	(void)state;
	check_fails("setmetatable({}, {__gc = function() while true do end end})",
		    "test.lua:1: __gc is not available: finalizers would run outside the limits");
	check_fails("setmetatable({}, {__gc = false})", "__gc is not available");
	check_prints(
		"local mt = {} local t = setmetatable({}, mt) mt.__gc = print t = nil collectgarbage() print('done')",
		"done\n");
}

static void metatables_that_are_shared_stay_hidden(void **state)
{
	(void)state;
	check_prints("print(getmetatable(''), pcall(setmetatable, '', {}))",
		     "string\tfalse\tbad argument #1 to 'setmetatable' (table expected, got string)\n");
	check_fails("getmetatable('').__index = {}", "attempt to index a string value");
	check_prints("local mt = {} print(getmetatable(setmetatable({}, mt)) == mt, getmetatable({}), getmetatable(1))",
		     "true\tnil\tnil\n");
	check_prints("print(getmetatable(setmetatable({}, {__metatable = 'no'})))", "no\n");
	check_fails("setmetatable(setmetatable({}, {__metatable = 'no'}), {})", "cannot change a protected metatable");
}

static void garbage_is_collected_by_hand(void **state)
{
	(void)state;
	check_prints("print(collectgarbage(), type(collectgarbage('count')), collectgarbage('step') ~= nil)",
		     "0\tnumber\ttrue\n");
	check_fails("collectgarbage('stop')", "invalid option 'stop'");
	check_fails("collectgarbage('generational')", "invalid option 'generational'");
}

static void chance_is_the_same_each_time(void **state)
{
	char *first;
	(void)state;
	CHECK_OK(run("print(math.random(1 << 50)) math.randomseed() print(math.random(1 << 50))"));
	first = xc_text_take(&printed);
	CHECK_OK(run("print(math.random(1 << 50)) math.randomseed() print(math.random(1 << 50))"));
	assert_string_equal(first, xc_text_string(&printed));
	free(first);
}

static void scripts_are_told_whether_redaction_is_on(void **state)
{
	struct xc_host_options chosen = options();
	(void)state;
	CHECK_OK(run_with(&chosen, "print(xcore.redacts())"));
	assert_string_equal(xc_text_string(&printed), "false\n");
	chosen.redacts = true;
	CHECK_OK(run_with(&chosen, "print(xcore.redacts())"));
	assert_string_equal(xc_text_string(&printed), "true\n");
}

static void unsafe_is_all_of_lua(void **state)
{
	struct xc_host_options chosen = options();
	(void)state;
	chosen.unsafe = true;
	CHECK_OK(run_with(&chosen,
			  "print(io.open, os.getenv('PATH') ~= nil, load(string.dump(function() return 5 end))(),"
			  " package.path ~= nil, debug.getinfo(1, 'l').currentline)"));
	assert_non_null(strstr(xc_text_string(&printed), "\ttrue\t5\ttrue\t1\n"));
	CHECK_ERROR(run_with(&chosen, "pcall(function() while true do end end)"), XC_ERR_LIMIT, "instructions");
}

/* ---- replaced functions, against the manual ---- */

static void tables_do_what_the_manual_says(void **state)
{
	(void)state;
	check_prints("local t = {1, 2, 3} table.insert(t, 4) table.insert(t, 1, 0) print(table.concat(t, ','))",
		     "0,1,2,3,4\n");
	check_prints("local t = {1, 2, 3} print(table.remove(t), table.remove(t, 1), table.concat(t, ','))",
		     "3\t1\t2\n");
	check_prints("local t = {} print(table.remove(t), table.remove(t, #t), table.remove({1, 2}, 3))",
		     "nil\tnil\tnil\n");
	check_prints("print(table.concat(table.move({1, 2, 3, 4}, 2, 4, 1), ','))", "2,3,4,4\n");
	check_prints("print(table.concat(table.move({1, 2, 3, 4}, 1, 3, 2), ','))", "1,1,2,3\n");
	check_prints("print(table.concat(table.move({1, 2, 3}, 1, 3, 3, {9, 9}), ','))", "9,9,1,2,3\n");
	check_prints("print(table.concat({}), table.concat({1, 2.5, 'x'}, '-'), table.concat({1, 2, 3}, ', ', 2, 3))",
		     "\t1-2.5-x\t2, 3\n");
	check_fails("table.concat({1, {}, 3})", "invalid value (at index 2) in table for 'concat'");
	check_fails("table.insert({1}, 5, 1)", "position out of bounds");
	check_fails("table.insert({1}, 1, 2, 3)", "wrong number of arguments to 'insert'");
	check_fails("table.remove({1, 2}, 7)", "position out of bounds");
	check_fails("table.move({}, 1, math.maxinteger, 2)", "destination wrap around");
	check_fails("table.move({}, -1, math.maxinteger, 2)", "too many elements to move");
	check_prints("print(('ab'):rep(3), ('ab'):rep(3, '-'), ('ab'):rep(0), ('ab'):rep(1, '-'), (''):rep(3, '+'))",
		     "ababab\tab-ab-ab\t\tab\t++\n");
	check_fails("('ab'):rep(math.maxinteger)", "resulting string too large");
}

static void sorting_sorts_and_keeps_order(void **state)
{
	(void)state;
	check_prints(
		"for n = 0, 300 do local t, seen = {}, {} for i = 1, n do t[i] = math.random(50) seen[t[i]] ="
		" (seen[t[i]] or 0) + 1 end table.sort(t) for i = 1, n do seen[t[i]] = seen[t[i]] - 1"
		" assert(i == 1 or t[i - 1] <= t[i]) end for _, c in pairs(seen) do assert(c == 0) end end print('ok')",
		"ok\n");
	check_prints(
		"local t = {} for i = 1, 200 do t[i] = {i % 7, i} end table.sort(t, function(a, b) return a[1] > b[1]"
		" end) for i = 2, 200 do local a, b = t[i - 1], t[i] assert(a[1] > b[1] or a[1] == b[1] and a[2] <"
		" b[2]) end print('ok')",
		"ok\n");
	check_prints("local t = {5, 4, 3, 2, 1} table.sort(t, function() return true end) print(#t)", "5\n");
	check_fails("table.sort({1, 'x'})", "attempt to compare");
	check_fails("table.sort({1, 2}, 5)", "function expected, got number");
}

static void protected_calls_do_what_the_manual_says(void **state)
{
	(void)state;
	check_prints("print(pcall(function(...) return ... end, 1, nil, 3))", "true\t1\tnil\t3\n");
	check_prints("print(pcall(error, 'x', 0), pcall(error))", "false\tfalse\tnil\n");
	check_prints("print(xpcall(error, function(m) return m .. '!' end, 'x', 0))", "false\tx!\n");
	check_prints("print(xpcall(function(...) return ... end, print, 1, 2))", "true\t1\t2\n");
	check_prints("print(coroutine.wrap(function() return pcall(function() return coroutine.yield(1) end) end)())",
		     "1\n");
	check_prints(
		"local c = coroutine.wrap(function() return pcall(function() error(coroutine.yield(1), 0) end) end)"
		" c() print(c('bad'))",
		"false\tbad\n");
	check_prints(
		"local c = coroutine.wrap(function() return xpcall(function() return coroutine.yield(1), 5 end, print)"
		" end) c() print(c('good'))",
		"true\tgood\t5\n");
	check_fails("pcall()", "bad argument #1 to 'pcall' (value expected)");
}

static void pairs_goes_the_same_way_each_time(void **state)
{
	(void)state;
	check_prints(
		"local t, s = {[3] = 1, [1.5] = 1, [2^70] = 1, [-1] = 1, [math.maxinteger] = 1, [true] = 1, [''] = 1}, "
		"''\n"
		"for i = 1, 9 do t['key' .. i] = i end t.key10 = 0 t['key1\\0'] = 0\n"
		"for k, v in pairs(t) do s = s .. tostring(k):gsub('%z', '0') .. ' ' end print(s)",
		"-1 1.5 3 9223372036854775807 1.1805916207174e+21  key1 key10 key10 key2 key3 key4 key5 key6 key7 key8 "
		"key9 true \n");
	check_prints("local t, n = {a = 1, b = 2, c = 3, 4}, 0\n"
		     "for k in pairs(t) do n = n + 1 t[k] = nil t.c = nil end print(n, next(t))",
		     "3\tnil\n");
	check_prints("for k, v in pairs(setmetatable({}, {__pairs = function(t) return next, {x = 1}, nil end})) do "
		     "print(k, v) end",
		     "x\t1\n");
	check_prints("local n = 0 for k, v in pairs {4, 5, nil, 7} do n = n + k * v end print(n, (next {}))",
		     "42\tnil\n");
	check_prints("print((select(2, pcall(pairs)))) for k in pairs {} do print(k) end",
		     "bad argument #1 to 'pairs' (value expected)\n");
	check_fails("for k in pairs(7) do end", "table expected, got number");
	check_ends("local t = {} for i = 1, 1e4 do t['k' .. i] = i end while true do pairs(t) end", TOO_LONG);
}

static void coroutines_do_what_the_manual_says(void **state)
{
	(void)state;
	check_prints("local c = coroutine.create(function(a, b) local d = coroutine.yield(a + b) error({d}) end)"
		     " print(coroutine.resume(c, 1, 2)) local ok, e = coroutine.resume(c, 'x') print(ok, e[1],"
		     " coroutine.status(c)) print(coroutine.resume(c))",
		     "true\t3\nfalse\tx\tdead\nfalse\tcannot resume dead coroutine\n");
	check_prints("local log = {} local c = coroutine.wrap(function() local x <close> = setmetatable({}, {__close ="
		     " function(_, e) log[1] = e end}) error('boom', 0) end) print(pcall(c)) print(log[1])",
		     "false\tboom\nboom\n");
	check_prints("local c = coroutine.create(function() local x <close> = setmetatable({}, {__close = function()"
		     " error('late', 0) end}) coroutine.yield() end) coroutine.resume(c) print(coroutine.close(c))"
		     " print(coroutine.close(coroutine.create(print)))",
		     "false\tlate\ntrue\n");
	check_fails("coroutine.close(coroutine.running())", "cannot close a running coroutine");
	check_fails("coroutine.wrap(5)", "function expected, got number");
	check_fails("coroutine.resume(5)", "coroutine expected");
	check_prints("print(coroutine.resume(coroutine.running()))", "false\tcannot resume non-suspended coroutine\n");
}

/* ---- errors ---- */

static void errors_say_where(void **state)
{
	struct xc_error *err =
		run("local function inner()\n  error('broken')\nend\nlocal function outer()\n  inner()\nend\n"
		    "outer()");
	(void)state;
	assert_non_null(err);
	assert_string_equal(err->message, "test.lua:2: broken");
	assert_string_equal(err->lines,
			    "stack traceback:\n  [C]: in function 'error'\n  test.lua:2: in upvalue 'inner'\n"
			    "  test.lua:5: in local 'outer'\n  test.lua:7: in main chunk");
	xc_error_free(err);
	err = run("x = = 1");
	assert_string_equal(err->message, "test.lua:1: unexpected symbol near '='");
	assert_null(err->lines);
	xc_error_free(err);
}

static void check_answers(const char *code, const char *message, bool with_trace)
{
	struct xc_error *err = run(code);
	assert_non_null(err);
	assert_string_equal(err->message, message);
	assert_int_equal(err->lines != NULL, with_trace);
	xc_error_free(err);
}

static void what_a_script_answers_is_no_accident(void **state)
{
	(void)state;
	check_answers("local xcore = require 'xcore' error(xcore.error('usage', 'a number is wanted'))",
		      "a number is wanted", false);
	check_answers("local xcore = require 'xcore' error(xcore.error('not_found', 'no such trace'))", "no such trace",
		      false);
	check_answers("local xcore = require 'xcore' error(xcore.error('fault', 'a page is lost'))",
		      "test.lua:1: a page is lost", true);
	check_answers("local xcore = require 'xcore' xcore.sizeof('struct none')",
		      "test.lua:1: types by name need a target, and there is none", true);
}

static void anything_can_be_raised(void **state)
{
	(void)state;
	check_fails("error()", "nil was raised as an error");
	check_fails("error(42)", "42 was raised as an error");
	check_fails("error(false)", "false was raised as an error");
	check_fails("error(print)", "a function was raised as an error");
	check_fails("error({})", "a table was raised as an error");
	check_fails("error({message = 'no such key'})", "no such key");
	check_fails("error(coroutine.create(print))", "a thread was raised as an error");
	check_fails("error(('x'):rep(1000) .. 'end')", "xxx \xe2\x80\xa6 xxx");
	check_fails("error(setmetatable({}, {__tostring = function() return 'mine' end}))", "mine");
	check_fails("error(setmetatable({}, {__tostring = function() error('worse') end}))",
		    "a table was raised as an error, and its __tostring failed");
	check_fails("error(setmetatable({}, {__tostring = function() return {} end}))", "its __tostring failed");
	check_fails("error(setmetatable({}, {__tostring = true}))", "its __tostring failed");
	check_fails("error('not enough memory', 0)", "not enough memory");
}

static void recursion_ends_with_a_message(void **state)
{
	(void)state;
	struct xc_host_options chosen = options();
	chosen.limits.memory *= 10;
	chosen.limits.instructions *= 10;
	CHECK_ERROR(run_with(&chosen, "local function f() return 1 + f() end f()"), XC_ERR_FORMAT, "stack overflow");
	check_fails("local t = setmetatable({}, {__index = function(t, k) return t[k] end}) return t.x",
		    "C stack overflow");
	check_fails("local function f() return (string.gsub('x', '.', f)) end f()", "C stack overflow");
	check_fails("local t = {} t = setmetatable(t, {__tostring = function() return tostring(t) end}) tostring(t)",
		    "C stack overflow");
	check_prints("local function f() return pcall(f) end local t = table.pack(f()) print(t[t.n])",
		     "C stack overflow\n");
	check_prints("local function f() return coroutine.wrap(f)() end print((pcall(f)))", "false\n");
	check_prints("print((xpcall(error, error, 'x')))", "false\n");
	check_prints("local function f(e) error(e) end print((xpcall(error, f, 'x')))", "false\n");
	check_fails("local s = ('('):rep(300) load('return ' .. s .. '1' .. (')'):rep(300)) error(select(2, "
		    "load('return ' .."
		    " s .. '1' .. (')'):rep(300))), 0)",
		    "overflow");
}

/* A state stays usable after a limit ended a run: the shell. */
static void the_next_run_starts_afresh(void **state)
{
	struct xc_host_options chosen = options();
	struct xc_host *host = xc_host_new(&chosen);
	(void)state;
	xc_text_fini(&printed);
	const char *codes[] = {"while true do end", "local s = 'x' while true do s = s .. s end", "error('x')"};
	for (size_t i = 0; i < XC_COUNT(codes); i++) {
		struct xc_error *err = xc_host_run(host, "test.lua", codes[i], strlen(codes[i]), NULL, 0);
		assert_non_null(err);
		xc_error_free(err);
		CHECK_OK(xc_host_run(host, "test.lua", "print(1)", 8, NULL, 0));
	}
	assert_string_equal(xc_text_string(&printed), "1\n1\n1\n");
	xc_host_free(host);
}

static void arguments_arrive(void **state)
{
	struct xc_host_options chosen = options();
	struct xc_host *host = xc_host_new(&chosen);
	const char *args[] = {"one", "two"};
	static const char code[] = "print(..., #arg, arg[1]) return 7, 8";
	(void)state;
	xc_text_fini(&printed);
	CHECK_OK(xc_host_run(host, "test.lua", code, sizeof code - 1, args, XC_COUNT(args)));
	assert_string_equal(xc_text_string(&printed), "one\t2\tone\n");
	assert_int_equal(lua_gettop(host->L), 2);
	assert_int_equal(lua_tointeger(host->L, 1), 7);
	xc_host_free(host);
}

static void no_text_shows_where_xcore_has_its_data(void **state)
{
	(void)state;
	check_prints("local t, f = {}, function() end print(t, f, t, print)",
		     "table: #1\tfunction: #2\ttable: #1\tfunction: #3\n");
	check_prints("print(tostring({}), tostring(coroutine.create(print)))", "table: #1\tthread: #2\n");
	check_prints("print(string.format('%s %5.3s %% %q %d', {}, 'abcdef', 'x', 7))", "table: #1   abc % \"x\" 7\n");
	check_prints("print(('%-12s|'):format({}))", "table: #1   |\n");
	check_prints("print(setmetatable({}, {__name = 'shop'}), setmetatable({}, {__name = 7}))",
		     "shop: #1\ttable: #2\n");
	check_prints("print(setmetatable({}, {__tostring = function() return 'mine' end}))", "mine\n");
	check_prints("print(pcall(string.format, '%p', {}))",
		     "false\t'%p' is not available: it would show addresses of xcore\n");
	check_prints("print(pcall(string.format, '%5p', {}))",
		     "false\t'%p' is not available: it would show addresses of xcore\n");
	check_prints("print(nil, true, 1, 1.5, 'x')", "nil\ttrue\t1\t1.5\tx\n");
	check_fails("string.format('%s')", "no value");
	check_fails("string.format('%y', 1)", "invalid conversion");
	check_fails("string.format('%d', 'x')",
		    "test.lua:1: bad argument #2 to 'format' (number expected, got string)");
	check_fails("string.format('%')", "bad argument #2 to 'format' (no value)");
	check_fails("tostring()", "value expected");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_limited),
		cmocka_unit_test(the_account_is_kept_to_the_instruction),
		cmocka_unit_test(a_limit_cannot_be_caught),
		cmocka_unit_test(coroutines_are_limited),
		cmocka_unit_test(coroutines_that_close_each_other_do_not_fill_the_stack),
		cmocka_unit_test(without_a_target_nothing_of_one_is_told),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(garbage_is_not_memory),
		cmocka_unit_test(time_is_limited),
		cmocka_unit_test(a_wait_for_a_cpu_may_be_no_end),
		cmocka_unit_test(loops_in_c_are_limited),
		cmocka_unit_test(nothing_reaches_outside),
		cmocka_unit_test(bytecode_is_refused),
		cmocka_unit_test(text_is_loaded),
		cmocka_unit_test(finalizers_are_refused),
		cmocka_unit_test(metatables_that_are_shared_stay_hidden),
		cmocka_unit_test(garbage_is_collected_by_hand),
		cmocka_unit_test(chance_is_the_same_each_time),
		cmocka_unit_test(unsafe_is_all_of_lua),
		cmocka_unit_test(scripts_are_told_whether_redaction_is_on),
		cmocka_unit_test(tables_do_what_the_manual_says),
		cmocka_unit_test(sorting_sorts_and_keeps_order),
		cmocka_unit_test(protected_calls_do_what_the_manual_says),
		cmocka_unit_test(pairs_goes_the_same_way_each_time),
		cmocka_unit_test(coroutines_do_what_the_manual_says),
		cmocka_unit_test(errors_say_where),
		cmocka_unit_test(what_a_script_answers_is_no_accident),
		cmocka_unit_test(anything_can_be_raised),
		cmocka_unit_test(recursion_ends_with_a_message),
		cmocka_unit_test(the_next_run_starts_afresh),
		cmocka_unit_test(no_text_shows_where_xcore_has_its_data),
		cmocka_unit_test(arguments_arrive),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xc_text_fini(&printed);
	return failed;
}
