/* layer: lua */
/* Plugins: fixtures and tests of plugins, and a new plugin. */
#include "core/base/text.h"
#include "lua/plugin/plugin.h"
#include "lua/plugin/plugin_new.h"
#include "lua/plugin/plugin_test.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "tests/unit/lua/plugin/plugin_dir.h"

static struct xc_error *no_core(void *user, const char *core, const char *exe, struct xc_process **out)
{
	(void)user;
	(void)exe;
	(void)out;
	return xc_error_new(XC_ERR_NOT_FOUND, "%s: no cores here", core);
}

static void closed(void *user)
{
	(void)user;
}

/* The result of a plugin's test: "ok", or the reason for its failure. */
static void expect_result(const char *cases, const char *want)
{
	struct xc_plugins plugins;
	struct xc_plugin_results results = {0};
	put("tested/subject/init.lua",
	    "local xcore = require 'xcore'\n"
	    "return { name = 'subject', about = 'x', match = { modules = { '*' } },\n"
	    "  analyze = function(t, report)\n"
	    "    local s = report:section('counts')\n"
	    "    local n = 0\n"
	    "    for i, v in xcore.each(t:var 'values') do n = n + v end\n"
	    "    s:count('sum', n) s:text('name', xcore.str(t:var 'who'.name)) s:note('all told')\n"
	    "    local rows = s:table('rows', { { 'i', 'count' }, { 'v', 'integer' } })\n"
	    "    for i, v in xcore.each(t:var 'values') do rows:row(i, v) end\n"
	    "  end,\n"
	    "  commands = { say = { about = 'x', run = function(t, report, args)\n"
	    "    for i, a in ipairs(args) do print(a) end print(t:eval('who.kind'), t:var 'who'.bits) end } } }\n");
	struct xc_text text = {0};
	xc_text_add(
		&text,
		"local fixture = { cdef = 'enum kind { CAT, DOG = 7 }; struct who { const char *name; enum kind kind; "
		"unsigned bits : 3; struct who *self; };',\n"
		"  objects = { values = { 'int [3]', { 1, 2, -1 } },\n"
		"    who = { 'struct who', { name = 'ann', kind = 'DOG', bits = 5, self = 'who' } } } }\n");
	xc_text_printf(&text, "return { %s }", cases);
	put("tested/subject/test/all.lua", xc_text_string(&text));
	xc_text_fini(&text);
	open_dir(&plugins, "tested");
	const struct xc_plugin_test_options options = {.plugins = &plugins,
						       .plugin = named(&plugins, "subject"),
						       .limits = xc_limits_defaults(),
						       .in_process = true,
						       .open = no_core,
						       .close = closed};
	CHECK_OK(xc_plugin_test(&options, &results));
	assert_int_equal(results.count, 1);
	const char *got = results.items[0].why ? results.items[0].why : "ok";
	if (!strstr(got, want))
		fail_msg("%s:\ngot:  %s\nwant: %s", cases, got, want);
	assert_int_equal(results.failed, strcmp(got, "ok") != 0);
	xc_plugin_results_fini(&results);
	xc_plugins_fini(&plugins);
}

static void cases_pass_when_all_is_as_expected(void **state)
{
	(void)state;
	expect_result("{ name = 'a', fixture = fixture, analyze = true, expect = { counts = { sum = 2, name = 'ann', "
		      "notes = { "
		      "'all told' },\n rows = { { i = 0, v = 1 }, { v = 2 }, { i = 2, v = -1 } } } } }",
		      "ok");
	expect_result("{ name = 'a', fixture = fixture, command = 'say', args = { 'x', '--y' }, output = { 'x', '--y', "
		      "'7\\t5' } }",
		      "ok");
	expect_result("{ name = 'a', fixture = fixture, run = function(t, r) local w = t:var 'who'\n"
		      "  assert(xcore.addr(w.self) == xcore.addr(w) and w.self.self.bits == 5 and t:has_type 'struct "
		      "who' and not t:has_var "
		      "'x') end }",
		      "ok");
	expect_result("{ name = 'a', fixture = fixture, analyze = true, expect = { counts = { sum = function(n) return "
		      "n > 1 end } "
		      "}, check = function(got) assert(got.sections.counts.sum == 2) end }",
		      "ok");
	expect_result("{ name = 'a', fixture = { memory = { [0x5000] = 'hello\\0' } }, output = 'hello 0',\n"
		      "  run = function(t) print(t:cstring(0x5000) .. ' ' .. t:readable(0x5006)) end }",
		      "ok");
	expect_result(
		"{ name = 'a', fixture = fixture, run = function(t) return t:var('values')[3] end, error = 'values' }",
		"ok");
}

static void cases_fail_when_something_is_not(void **state)
{
	(void)state;
	expect_result("{ name = 'a', fixture = fixture, analyze = true, expect = { counts = { sum = 3 } } }",
		      "counts.sum: got 2, want 3");
	expect_result("{ name = 'a', fixture = fixture, analyze = true, expect = { counts = { missing = 3 } } }",
		      "counts.missing: got nil, want 3");
	expect_result("{ name = 'a', fixture = fixture, analyze = true, expect = { counts = { rows = { {}, {} } } } }",
		      "counts.rows: 3 items, not 2");
	expect_result("{ name = 'a', fixture = fixture, analyze = true, expect = { counts = { rows = { {}, { v = 9 }, "
		      "{} } } } }",
		      "counts.rows[2].v: got 2, want 9");
	expect_result("{ name = 'a', fixture = fixture, command = 'say', output = 'else' }",
		      "output: got \"7\\t5\", want \"else\"");
	expect_result("{ name = 'a', fixture = fixture, run = function() error 'oh' end }", "oh");
	expect_result("{ name = 'a', fixture = fixture, run = function() error 'oh' end, error = 'ah' }",
		      "want one with \"ah\"");
	expect_result("{ name = 'a', fixture = fixture, run = function() end, error = 'ah' }", "did not fail");
	expect_result("{ name = 'a', fixture = fixture, analyze = true, check = function() return false, 'bad' end }",
		      "check: bad");
	expect_result("{ name = 'a', fixture = fixture, command = 'none' }", "none");
}

static void mistakes_of_cases_are_told(void **state)
{
	(void)state;
	expect_result("{ fixture = fixture, analyze = true }", "'name' is missing");
	expect_result("{ name = 'a', fixture = fixture }", "one of analyze, command, flame and run");
	expect_result("{ name = 'a', analyze = true }", "expected core or fixture");
	expect_result("{ name = 'a', analyze = true, core = 'x.core' }", "x.core: no cores here");
	expect_result("{ name = 'a', fixture = fixture, analyze = true, expct = {} }", "did you mean 'expect'");
	expect_result("7", "a case must be a table");
	expect_result("{ name = 'a', run = print, fixture = { object = {} } }", "unknown key 'object'");
	expect_result("{ name = 'a', run = print, fixture = { cdef = 'struct {' } }", "cdef: ");
	expect_result("{ name = 'a', run = print, fixture = { objects = { o = { 'struct none' } } } }", "object 'o'");
	expect_result("{ name = 'a', run = print, fixture = { objects = { o = { 'int', 'x' } } } }", "o: ");
	expect_result("{ name = 'a', run = print, fixture = { objects = { o = { 'int [2]', { 1, 2, 3 } } } } }",
		      "o: more than 2 elements");
	expect_result("{ name = 'a', run = print, fixture = { objects = { o = { 'int *', 'nobody' } } } }",
		      "o: there is no object 'nobody'");
	expect_result("{ name = 'a', run = print, fixture = { cdef = 'struct s { int a; };', objects = { o = { 'struct "
		      "s', { b = 1 } "
		      "} } } }",
		      "o: struct s has no member 'b'");
	expect_result("{ name = 'a', run = print, fixture = { objects = { o = { 'char [2]', 'long' } } } }",
		      "o: the text has more than 2 bytes");
	expect_result("{ name = 'a', run = print, fixture = { arch = 'vax' } }", "arch: 'vax'");
	expect_result("{ name = 'a', run = print, fixture = { memory = { [-1] = 'ab' } } }", "memory: ");
}

/* Other machines have other sizes and pointers. */
static void fixtures_are_of_any_machine(void **state)
{
	(void)state;
	expect_result(
		"{ name = 'a', output = '4 4 7', run = function(t) local p = t:var 'p'\n"
		"  print(xcore.sizeof('long') .. ' ' .. xcore.sizeof(t:type 'int *') .. ' ' .. p.n) end,\n"
		"  fixture = { arch = 'i386', cdef = 'struct s { long n; };', objects = { p = { 'struct s *', 's' }, "
		"s = { 'struct s', { n = 7 } } } } }",
		"ok");
}

/* ---- a new plugin ---- */

static void new_plugin_passes_its_tests(void **state)
{
	struct xc_plugins plugins;
	struct xc_plugin_results results = {0};
	(void)state;
	const struct xc_plugin_new what = {.dir = scratch_path("fresh"),
					   .name = "mine",
					   .type = "struct client",
					   .module = "evil\"}, x = {\"",
					   .variable = "list"};
	CHECK_OK(xc_plugin_new(&what));
	CHECK_ERROR(xc_plugin_new(&what), XC_ERR_USAGE, "already exists");
	open_dir(&plugins, "fresh");
	const struct xc_plugin *plugin = named(&plugins, "mine");
	assert_int_equal(plugin->match.modules.count, 0); /* such a name is not written to a file */
	const struct xc_plugin_test_options options = {.plugins = &plugins,
						       .plugin = plugin,
						       .limits = xc_limits_defaults(),
						       .in_process = true,
						       .open = no_core,
						       .close = closed};
	CHECK_OK(xc_plugin_test(&options, &results));
	for (size_t i = 0; i < results.count; i++)
		if (results.items[i].why)
			fail_msg("%s: %s", results.items[i].name, results.items[i].why);
	assert_int_equal(results.count, 3);
	xc_plugin_results_fini(&results);
	xc_plugins_fini(&plugins);
	CHECK_ERROR(xc_plugin_new(&(struct xc_plugin_new){.dir = what.dir, .name = "Bad", .type = "int"}), XC_ERR_USAGE,
		    "not a valid name");
	CHECK_ERROR(xc_plugin_new(&(struct xc_plugin_new){.dir = what.dir, .name = "bad", .type = "int\" .. os"}),
		    XC_ERR_USAGE, "not a valid name of a type");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases_pass_when_all_is_as_expected),
		cmocka_unit_test(cases_fail_when_something_is_not),
		cmocka_unit_test(mistakes_of_cases_are_told),
		cmocka_unit_test(fixtures_are_of_any_machine),
		cmocka_unit_test(new_plugin_passes_its_tests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
