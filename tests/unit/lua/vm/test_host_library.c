/* layer: lua */
/* The Lua state of scripts: accessible functions, and what the replaced ones do. */
#include "tests/support/check.h"
#include "tests/unit/lua/vm/hosted.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_target_nothing_of_one_is_told),
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
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xc_text_fini(&printed);
	return failed;
}
