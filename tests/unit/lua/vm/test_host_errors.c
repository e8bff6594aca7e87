/* layer: lua */
/* The Lua state of scripts: error messages, arguments, and runs after one another. */
#include "tests/support/check.h"
#include "lua/vm/bind.h"
#include "tests/unit/lua/vm/hosted.h"

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
		cmocka_unit_test(errors_say_where),           cmocka_unit_test(what_a_script_answers_is_no_accident),
		cmocka_unit_test(anything_can_be_raised),     cmocka_unit_test(recursion_ends_with_a_message),
		cmocka_unit_test(the_next_run_starts_afresh), cmocka_unit_test(no_text_shows_where_xcore_has_its_data),
		cmocka_unit_test(arguments_arrive),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xc_text_fini(&printed);
	return failed;
}
