/* layer: lua */
/* Plugins: manifests and their mistakes, which processes they match, and the cost of many. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/elf/arch.h"
#include "core/process/module.h"
#include "core/base/text.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "lua/plugin/plugin.h"
#include "tests/support/check.h"
#include "tests/unit/lua/plugin/plugin_dir.h"

static void expect_broken(const char *name, const char *text, const char *part)
{
	struct xc_plugins plugins;
	struct xc_plugin *plugin;
	char path[100];
	snprintf(path, sizeof path, "broken/%s.lua", name);
	const char *file = put(path, text);
	open_dir(&plugins, "broken");
	struct xc_error *err = xc_plugins_named(&plugins, name, &plugin);
	if (!err || !strstr(err->message, part))
		fail_msg("%s: got \"%s\", want \"%s\"", name, err ? err->message : "no error", part);
	xc_error_free(err);
	xc_plugins_fini(&plugins);
	unlink(file);
}

/* ---- manifests ---- */

static void manifest_is_read_whole(void **state)
{
	struct xc_plugins plugins;
	(void)state;
	put("whole/all.lua",
	    "local function f() end\n"
	    "return { name = 'all', about = 'one line', doc = 'more', analyze = f,\n"
	    "  match = { modules = { 'a', 'b*' }, symbols = { 's' }, types = { 'struct t' } },\n"
	    "  commands = { zeta = { about = 'z', run = f }, alpha = { about = 'a', usage = 'KEY', run = f } },\n"
	    "  flames = { memory = { about = 'm', unit = 'bytes', run = f } } }\n");
	open_dir(&plugins, "whole");
	const struct xc_plugin *p = named(&plugins, "all");
	assert_string_equal(p->about, "one line");
	assert_string_equal(p->doc, "more");
	assert_true(p->analyzes);
	assert_int_equal(p->match.modules.count, 2);
	assert_string_equal(p->match.modules.items[1], "b*");
	assert_string_equal(p->match.types.items[0], "struct t");
	assert_int_equal(p->commands.count, 2);
	assert_string_equal(p->commands.items[0].name, "alpha");
	assert_string_equal(xc_plugin_entry(&p->commands, "alpha")->usage, "KEY");
	assert_null(xc_plugin_entry(&p->commands, "zeta")->usage);
	assert_string_equal(xc_plugin_entry(&p->flames, "memory")->unit, "bytes");
	assert_null(xc_plugin_entry(&p->flames, "other"));
	xc_plugins_fini(&plugins);
}

static void mistakes_of_manifests_are_told(void **state)
{
	(void)state;
	expect_broken("a1", "return { name = 'a1' }", "'about' is missing");
	expect_broken("a2", "return { about = 'x' }", "'name' is missing");
	expect_broken("a3", "return { name = 'a3', about = 'x', comands = {} }", "did you mean 'commands'");
	expect_broken("a4", "return { name = 'a4', about = 7 }", "about: expected a string, not a number");
	expect_broken("a5", "return { name = 'other', about = 'x' }", "its name is 'other'");
	expect_broken("a6", "return 7", "returns a number");
	expect_broken("a7", "", "not the table of a plugin");
	expect_broken("a8", "return {", "a8.lua:1:");
	expect_broken("a9", "error 'boom'", "boom");
	expect_broken("b1", "return { name = 'b1', about = 'x', commands = { keys = { about = 'k' } } }",
		      "commands: keys: 'run' is missing");
	expect_broken("b2", "return { name = 'b2', about = 'x', commands = { keys = 1 } }",
		      "commands: keys: expected a table, not a number");
	expect_broken("b3", "return { name = 'b3', about = 'x', commands = { ['a b'] = {} } }", "lower-case letters");
	expect_broken("b4", "return { name = 'b4', about = 'x', match = { module = { 'a' } } }",
		      "match: unknown key 'module': did you mean 'modules'");
	expect_broken("b5", "return { name = 'b5', about = 'x', match = { modules = { 1 } } }",
		      "modules: a name in a list: expected a string");
	expect_broken("b6", "return { name = 'b6', about = 'x', match = { modules = 'a' } }",
		      "modules: expected a table, not a string");
	expect_broken("b7", "return { name = 'b7', about = 'x', analyze = function() end }", "no 'match'");
	expect_broken("b8", "return { name = 'b8', about = 'a\\0b' }", "NUL");
	expect_broken("d1",
		      "local names, long = {}, ('x'):rep(1 << 20) for i = 1, 1000 do names[i] = long end\n"
		      "return { name = 'd1', about = 'x', match = { symbols = names } }",
		      "all texts together are more than 4 MiB");
	expect_broken("b9", "return { 'x', name = 'b9', about = 'x' }", "a key that is a number");
	expect_broken("c1", "\x1bLua", "c1.lua");
	expect_broken("c2", "while true do end", "instructions");
	expect_broken("c3", "local t = {} while true do t[#t + 1] = ('x'):rep(1e6) .. #t end", "memory");
	expect_broken("c4", "return setmetatable({}, { __index = function() error 'no' end })", "'name' is missing");
	expect_broken(
		"c5",
		"return { name = 'c5', about = 'x', commands = setmetatable({}, { __len = error, __pairs = error }), "
		"match = { types = {} } }",
		"types: expected a list of names");
}

/* One broken plugin does not affect the others. */
static void states_of_manifests_are_apart(void **state)
{
	struct xc_plugins plugins;
	(void)state;
	put("apart/a.lua", "string.format = nil; shared = 1; return { name = 'a', about = 'x' }");
	put("apart/b.lua", "return { name = 'b', about = tostring(shared) .. type(string.format) }");
	open_dir(&plugins, "apart");
	named(&plugins, "a");
	assert_string_equal(named(&plugins, "b")->about, "nilfunction");
	xc_plugins_fini(&plugins);
}

static void near_names_are_suggested(void **state)
{
	struct xc_plugins plugins;
	struct xc_plugin *plugin;
	(void)state;
	put("near/redis.lua", "return { name = 'redis', about = 'x' }");
	open_dir(&plugins, "near");
	struct xc_error *err = xc_plugins_named(&plugins, "redsi", &plugin);
	assert_non_null(err);
	assert_string_equal(err->hint, "did you mean redis?");
	xc_error_free(err);
	xc_plugins_fini(&plugins);
}

/* ---- matching ---- */

static struct xc_process *process_with(const char *const *modules, size_t count)
{
	struct xc_process *process = xc_process_new("made", false);
	process->arch = xc_arch_host();
	for (size_t i = 0; i < count; i++)
		xc_module_add(process, modules[i], i ? XC_MODULE_LIBRARY : XC_MODULE_EXE);
	xc_space_seal(process->space);
	return process;
}

static void expect_match(const struct xc_process *process, const char *match, bool want, const char *why_part)
{
	struct xc_plugins plugins;
	struct xc_text text = {0};
	char *why = NULL;
	xc_text_printf(&text, "return { name = 'm', about = 'x', match = %s }", match);
	const char *file = put("match/m.lua", xc_text_string(&text));
	open_dir(&plugins, "match");
	bool got = xc_plugin_matches(named(&plugins, "m"), process, &why);
	if (got != want || !why || !strstr(why, why_part))
		fail_msg("%s: %s, \"%s\", want \"%s\"", match, got ? "matches" : "does not", why ? why : "", why_part);
	free(why);
	xc_text_fini(&text);
	xc_plugins_fini(&plugins);
	unlink(file);
}

/* A program without symbols: headers, code, constants, data; "needle 2." is in the constants, "heap" in the data. */
static struct xc_process *stripped_process(uint8_t *bytes, size_t page, bool parted)
{
	struct xc_process *process = xc_process_new("made", false);
	struct xc_module *module = xc_module_add(process, "/usr/bin/stripped", XC_MODULE_EXE);
	static const bool code[] = {false, true, false, false}, data[] = {false, false, false, true};
	process->arch = xc_arch_host();
	module->lo = 0x10000;
	module->hi = module->lo + 4 * page - 1;
	process->mappings = calloc(4, sizeof *process->mappings);
	assert_non_null(process->mappings);
	process->mapping_count = 4;
	for (size_t i = 0; i < 4; i++) {
		xc_addr lo = module->lo + i * page;
		process->mappings[i] = (struct xc_mapping){.lo = lo,
							   .hi = lo + page - 1,
							   .readable = true,
							   .writable = data[i],
							   .executable = parted ? code[i] : !data[i]};
	}
	strcpy((char *)bytes + page + 100, "in code");
	strcpy((char *)bytes + 2 * page + 77, "the needle 2.1");
	strcpy((char *)bytes + 3 * page + 5, "on the heap");
	xc_space_add(process->space, &(struct xc_segment){.lo = module->lo, .hi = module->hi, .bytes = bytes});
	xc_space_seal(process->space);
	return process;
}

static void strings_stand_in_for_symbols(void **state)
{
	enum { PAGE = 4096 };
	static uint8_t bytes[4 * PAGE];
	struct xc_process *process = stripped_process(bytes, PAGE, true);
	(void)state;
	expect_match(process, "{ strings = { 'needle 2.' } }", true, "text needle 2.");
	expect_match(process, "{ symbols = { 'none' }, strings = { 'nothing', 'needle 2.' } }", true, "text needle 2.");
	expect_match(process, "{ symbols = { 'none' }, strings = { 'needle 3' } }", false,
		     "no symbol none, no text needle 3");
	expect_match(process, "{ modules = { 'other' }, strings = { 'needle 2.' } }", false, "no module other");
	expect_match(process, "{ types = { 'none' }, strings = { 'needle 2.' } }", false, "no type none");
	expect_match(process, "{ strings = { 'on the heap' } }", false, "no text on the heap");
	expect_match(process, "{ strings = { 'in code' } }", false, "no text in code");
	xc_debuginfo_close(process);
	xc_debugfiles_close(process);
	xc_process_close(process);
	process = stripped_process(bytes, PAGE, false); /* constants among code, as older linkers leave them */
	expect_match(process, "{ strings = { 'needle 2.' } }", true, "text needle 2.");
	xc_debuginfo_close(process);
	xc_debugfiles_close(process);
	xc_process_close(process);
}

static void modules_match_by_pattern(void **state)
{
	static const char *const modules[] = {"/usr/bin/redis-server", "/lib/libluajit-5.1.so.2", "/lib/libc.so.6"};
	struct xc_process *process = process_with(modules, 3);
	(void)state;
	expect_match(process, "{ modules = { 'redis-server' } }", true, "module redis-server");
	expect_match(process, "{ modules = { 'nginx', 'libluajit*' } }", true, "module libluajit*");
	expect_match(process, "{ modules = { '*' } }", true, "module *");
	expect_match(process, "{ modules = { 'redis' } }", false, "no module redis");
	expect_match(process, "{ modules = { 'nginx', 'angie' } }", false, "no module nginx or angie");
	expect_match(process, "{ modules = { '/usr/bin/redis-server' } }", false, "no module");
	expect_match(process, "{ modules = { 'redis-server' }, symbols = { 'nothing_such' } }", false,
		     "no symbol nothing_such");
	expect_match(process, "{ modules = { 'redis-server' }, types = { 'struct nothing' } }", false,
		     "no type struct nothing");
	expect_match(process, "{}", false, "it has no match");
	xc_debuginfo_close(process);
	xc_debugfiles_close(process);
	xc_process_close(process);
}

/* ---- cost ---- */

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return left < right ? -1 : left > right;
}

/* Fifty installed plugins cost an unrelated process less than a millisecond of CPU time each. */
static void fifty_plugins_cost_a_millisecond_each_at_most(void **state)
{
	static const char *const modules[] = {"/usr/bin/something", "/lib/libc.so.6"};
	struct xc_process *process = process_with(modules, 2);
	double times[9] = {0};
	(void)state;
	for (int i = 0; i < 50; i++) {
		char path[100], text[4000];
		snprintf(path, sizeof path, "fifty/plugin%d/init.lua", i);
		int len = snprintf(text, sizeof text,
				   "local xcore = require 'xcore'\nreturn { name = 'plugin%d', about = 'number %d',\n"
				   "match = { modules = { 'server%d*' }, symbols = { 'main_table%d' } },\n"
				   "analyze = function(t, report) end, commands = {\n",
				   i, i, i, i);
		for (int k = 0; k < 20; k++)
			len += snprintf(
				text + len, sizeof text - (size_t)len,
				"command%d = { about = 'one of many', usage = '[--limit N]', run = function(t, report, "
				"args) print(t, args) end },\n",
				k);
		snprintf(text + len, sizeof text - (size_t)len, "} }\n");
		put(path, text);
	}
	for (size_t run = 0; run < XC_COUNT(times); run++) {
		struct timespec a, b;
		struct xc_plugins plugins;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		open_dir(&plugins, "fifty");
		for (size_t i = 0; i < plugins.count; i++) {
			assert_true(xc_plugin_read(&plugins, plugins.items[i]));
			assert_false(xc_plugin_matches(plugins.items[i], process, NULL));
		}
		assert_int_equal(plugins.count, 50);
		xc_plugins_fini(&plugins);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		times[run] = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	}
	qsort(times, XC_COUNT(times), sizeof *times, by_size);
	const double slowness = check_slowness();
	print_message("# 50 plugins: %.2f ms, %.3f ms each; slowness %.2f\n", times[4], times[4] / 50, slowness);
	if (!UNDER_ASAN)
		assert_true(times[4] / 50 < slowness);
	xc_debuginfo_close(process);
	xc_debugfiles_close(process);
	xc_process_close(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(manifest_is_read_whole),
		cmocka_unit_test(mistakes_of_manifests_are_told),
		cmocka_unit_test(states_of_manifests_are_apart),
		cmocka_unit_test(near_names_are_suggested),
		cmocka_unit_test(modules_match_by_pattern),
		cmocka_unit_test(strings_stand_in_for_symbols),
		cmocka_unit_test(fifty_plugins_cost_a_millisecond_each_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
