/* layer: lua */
/* Plugins: search path and refusals, manifests, matching, require, fixtures. */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/elf/arch.h"
#include "core/process/module.h"
#include "core/base/text.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "lua/plugin/fixture.h"
#include "lua/plugin/plugin.h"
#include "lua/plugin/plugin_new.h"
#include "lua/plugin/plugin_test.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

/* ---- a plugin directory ---- */

static const char *put(const char *name, const char *text)
{
	return scratch_file(name, text, strlen(text));
}

/* Only the test's plugins: none of the user's. */
static void open_dir(struct xc_plugins *plugins, const char *name)
{
	const char *dirs[] = {scratch_path(name)};
	setenv("XDG_DATA_HOME", scratch_path("nothing/here"), 1);
	CHECK_OK(xc_plugins_open(plugins, dirs, 1));
}

static struct xc_plugin *named(struct xc_plugins *plugins, const char *name)
{
	struct xc_plugin *plugin = NULL;
	CHECK_OK(xc_plugins_named(plugins, name, &plugin));
	return plugin;
}

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

/* ---- finding ---- */

static void finds_both_forms_and_nothing_else(void **state)
{
	struct xc_plugins plugins;
	(void)state;
	put("found/one.lua", "return { name = 'one', about = 'x' }");
	put("found/two/init.lua", "return { name = 'two', about = 'x' }");
	put("found/two/part.lua", "return 1");
	put("found/lib/walk.lua", "return {}");
	put("found/lib/init.lua", "return {}");
	put("found/Three.lua", "return {}");
	put("found/four.txt", "return {}");
	put("found/.five.lua", "return {}");
	open_dir(&plugins, "found");
	assert_int_equal(plugins.count, 2);
	assert_string_equal(plugins.items[0]->name, "one");
	assert_string_equal(plugins.items[1]->name, "two");
	assert_string_equal(plugins.items[1]->path, "two/init.lua");
	xc_plugins_fini(&plugins);
}

static void earlier_directory_wins(void **state)
{
	struct xc_plugins plugins;
	(void)state;
	put("first/same.lua", "return { name = 'same', about = 'first' }");
	put("second/same.lua", "return { name = 'same', about = 'second' }");
	put("data/xcore/plugins/same.lua", "return { name = 'same', about = 'user' }");
	put("data/xcore/plugins/own.lua", "return { name = 'own', about = 'user' }");
	const char *dirs[] = {scratch_path("first"), scratch_path("second")};
	setenv("XDG_DATA_HOME", scratch_path("data"), 1);
	CHECK_OK(xc_plugins_open(&plugins, dirs, 2));
	assert_string_equal(named(&plugins, "same")->about, "first");
	assert_string_equal(named(&plugins, "own")->about, "user");
	xc_plugins_fini(&plugins);
}

static void missing_directory_is_an_error_when_named(void **state)
{
	struct xc_plugins plugins;
	const char *dirs[] = {scratch_path("not-there")};
	(void)state;
	CHECK_ERROR(xc_plugins_open(&plugins, dirs, 1), XC_ERR_NOT_FOUND, "--plugin-path");
}

static void current_directory_is_never_looked_into(void **state)
{
	struct xc_plugins plugins;
	struct xc_plugin *plugin;
	char *before = getcwd(NULL, 0);
	(void)state;
	put("cwd/sneaky.lua", "return { name = 'sneaky', about = 'x' }");
	put("cwd/plugins/sneaky.lua", "return { name = 'sneaky', about = 'x' }");
	assert_int_equal(chdir(scratch_path("cwd")), 0);
	setenv("XDG_DATA_HOME", "plugins", 1); /* a relative one does not count */
	CHECK_OK(xc_plugins_open(&plugins, NULL, 0));
	CHECK_ERROR(xc_plugins_named(&plugins, "sneaky", &plugin), XC_ERR_NOT_FOUND, "no plugin");
	xc_plugins_fini(&plugins);
	assert_int_equal(chdir(before), 0);
	free(before);
}

/* ---- trust ---- */

static void what_all_may_write_is_refused(void **state)
{
	struct xc_plugins plugins;
	struct xc_plugin *plugin;
	(void)state;
	chmod(put("loose/file.lua", "return { name = 'file', about = 'x' }"), 0666);
	put("loose/dir/init.lua", "return { name = 'dir', about = 'x' }");
	chmod(scratch_path("loose/dir"), 0777);
	open_dir(&plugins, "loose");
	CHECK_ERROR(xc_plugins_named(&plugins, "file", &plugin), XC_ERR_PERMISSION, "world-writable");
	CHECK_ERROR(xc_plugins_named(&plugins, "dir", &plugin), XC_ERR_PERMISSION, "world-writable");
	xc_plugins_fini(&plugins);
	chmod(scratch_path("loose"), 0777);
	const char *dirs[] = {scratch_path("loose")};
	CHECK_ERROR(xc_plugins_open(&plugins, dirs, 1), XC_ERR_PERMISSION, "world-writable");
	chmod(scratch_path("loose"), 0755);
}

/* A standard directory that is refused is reported, and stops nothing. */
static void users_directory_that_all_may_write_is_a_note(void **state)
{
	struct xc_plugins plugins;
	(void)state;
	put("open/xcore/plugins/mine.lua", "return { name = 'mine', about = 'x' }");
	chmod(scratch_path("open/xcore/plugins"), 0777);
	setenv("XDG_DATA_HOME", scratch_path("open"), 1);
	CHECK_OK(xc_plugins_open(&plugins, NULL, 0));
	assert_int_equal(plugins.dirs.refused_count, 1);
	assert_non_null(strstr(plugins.dirs.refused[0]->message, "world-writable"));
	xc_plugins_fini(&plugins);
}

static void strangers_files_are_refused(void **state)
{
	struct xc_plugins plugins;
	struct xc_plugin *plugin;
	(void)state;
	if (geteuid() != 0)
		check_skip("only root may give files away");
	assert_int_equal(chown(put("stranger/file.lua", "return { name = 'file', about = 'x' }"), 4711, 0), 0);
	open_dir(&plugins, "stranger");
	CHECK_ERROR(xc_plugins_named(&plugins, "file", &plugin), XC_ERR_PERMISSION, "belongs to user 4711");
	xc_plugins_fini(&plugins);
}

static void links_are_not_followed(void **state)
{
	struct xc_plugins plugins;
	struct xc_plugin *plugin;
	(void)state;
	const char *real = put("elsewhere/real.lua", "return { name = 'linked', about = 'x' }");
	put("elsewhere/init.lua", "return { name = 'linkdir', about = 'x' }");
	put("links/here.lua", "return { name = 'here', about = 'x' }");
	assert_int_equal(symlink(real, scratch_path("links/linked.lua")), 0);
	assert_int_equal(symlink(scratch_path("elsewhere"), scratch_path("links/linkdir")), 0);
	assert_int_equal(symlink(scratch_path("links"), scratch_path("linktop")), 0);
	open_dir(&plugins, "linktop"); /* the directory itself may be a link */
	assert_string_equal(named(&plugins, "here")->about, "x");
	CHECK_ERROR(xc_plugins_named(&plugins, "linked", &plugin), XC_ERR_PERMISSION, "links");
	CHECK_ERROR(xc_plugins_named(&plugins, "linkdir", &plugin), XC_ERR_PERMISSION, "links");
	xc_plugins_fini(&plugins);
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

/* ---- files ---- */

static void file_is_a_plugin_or_a_script(void **state)
{
	struct xc_plugins plugins;
	struct xc_plugin *plugin;
	(void)state;
	open_dir(&plugins, "found");
	CHECK_OK(xc_plugins_file(&plugins, put("files/p.lua", "return { name = 'any', about = 'x' }"), &plugin));
	assert_string_equal(plugin->name, "any");
	CHECK_OK(xc_plugins_file(&plugins, put("files/s.lua", "print(require('xcore').target:var 'x')"), &plugin));
	assert_null(plugin->name);
	CHECK_OK(xc_plugins_file(&plugins, put("files/t.lua", "return { 1, 2 }"), &plugin));
	assert_null(plugin->name);
	CHECK_ERROR(xc_plugins_file(&plugins, put("files/b.lua", "return { name = 'any', abuot = 'x' }"), &plugin),
		    XC_ERR_FORMAT, "did you mean 'about'");
	CHECK_ERROR(xc_plugins_file(&plugins, scratch_path("files/none.lua"), &plugin), XC_ERR_NOT_FOUND, "none.lua");
	xc_plugins_fini(&plugins);
}

/* ---- require ---- */

static struct xc_error *run_text(struct xc_plugins *plugins, const char *text)
{
	struct xc_host_options options = {.name = "test", .limits = xc_limits_defaults()};
	options.module_dirs = xc_plugin_module_dirs(plugins, NULL, &options.module_dir_count);
	struct xc_host *host = xc_host_new(&options);
	struct xc_error *err = xc_host_run(host, "test", text, strlen(text), NULL, 0);
	xc_host_free(host);
	return err;
}

static void require_finds_parts_once(void **state)
{
	struct xc_plugins plugins;
	(void)state;
	put("parts/mine/init.lua", "return { name = 'mine', about = require 'mine.text' }");
	put("parts/mine/text.lua", "return 'from a part'");
	put("parts/mine/deep/er.lua", "count = (count or 0) + 1; return { ... }");
	put("parts/mine/nothing.lua", "local x = 1");
	put("parts/lib/walk.lua", "return { list = 'walker' }");
	open_dir(&plugins, "parts");
	assert_string_equal(named(&plugins, "mine")->about, "from a part");
	CHECK_OK(run_text(&plugins, "assert(require 'lib.walk'.list == 'walker')\n"
				    "assert(require 'mine.deep.er' == require 'mine.deep.er' and count == 1)\n"
				    "assert(require 'mine.deep.er'[1] == 'mine.deep.er')\n"
				    "assert(require 'mine.nothing' == true)\n"
				    "assert(require 'xcore' == xcore and require 'string' == string)\n"));
	xc_plugins_fini(&plugins);
}

static void require_reaches_nothing_else(void **state)
{
	struct xc_plugins plugins;
	(void)state;
	static const char *const bad[] = {
		"/etc/passwd",   "..secret.x", "mine..text", "mine/text", "../parts/mine.text",
		"mine",          "init",       "mine.Text",  "mine.",     ".mine.text",
		"mine.text\\0x", "os",         "io",         "package",   "",
	};
	put("secret/x.lua", "return 1");
	open_dir(&plugins, "parts");
	for (size_t i = 0; i < XC_COUNT(bad); i++) {
		char text[200];
		snprintf(text, sizeof text, "require '%s'", bad[i]);
		struct xc_error *err = run_text(&plugins, text);
		if (!err)
			fail_msg("require '%s' found something", bad[i]);
		xc_error_free(err);
	}
	xc_plugins_fini(&plugins);
}

static void require_errors_name_the_part(void **state)
{
	struct xc_plugins plugins;
	(void)state;
	put("loop/a/x.lua", "return require 'a.y'");
	put("loop/a/y.lua", "return require 'a.x'");
	put("loop/a/bad.lua", "return (");
	put("loop/a/boom.lua", "\n\nerror 'boom'");
	open_dir(&plugins, "loop");
	CHECK_ERROR(run_text(&plugins, "require 'a.x'"), XC_ERR_FORMAT, "requires itself");
	CHECK_ERROR(run_text(&plugins, "require 'a.bad'"), XC_ERR_FORMAT, "a/bad.lua:1:");
	CHECK_ERROR(run_text(&plugins, "require 'a.boom'"), XC_ERR_FORMAT, "a/boom.lua:3: boom");
	CHECK_ERROR(run_text(&plugins, "require 'a.none'"), XC_ERR_NOT_FOUND, "a/none.lua");
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

/* ---- fixtures and tests of plugins ---- */

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
		cmocka_unit_test(finds_both_forms_and_nothing_else),
		cmocka_unit_test(earlier_directory_wins),
		cmocka_unit_test(missing_directory_is_an_error_when_named),
		cmocka_unit_test(current_directory_is_never_looked_into),
		cmocka_unit_test(what_all_may_write_is_refused),
		cmocka_unit_test(users_directory_that_all_may_write_is_a_note),
		cmocka_unit_test(strangers_files_are_refused),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(manifest_is_read_whole),
		cmocka_unit_test(mistakes_of_manifests_are_told),
		cmocka_unit_test(states_of_manifests_are_apart),
		cmocka_unit_test(near_names_are_suggested),
		cmocka_unit_test(file_is_a_plugin_or_a_script),
		cmocka_unit_test(require_finds_parts_once),
		cmocka_unit_test(require_reaches_nothing_else),
		cmocka_unit_test(require_errors_name_the_part),
		cmocka_unit_test(modules_match_by_pattern),
		cmocka_unit_test(strings_stand_in_for_symbols),
		cmocka_unit_test(cases_pass_when_all_is_as_expected),
		cmocka_unit_test(cases_fail_when_something_is_not),
		cmocka_unit_test(mistakes_of_cases_are_told),
		cmocka_unit_test(fixtures_are_of_any_machine),
		cmocka_unit_test(new_plugin_passes_its_tests),
		cmocka_unit_test(fifty_plugins_cost_a_millisecond_each_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
