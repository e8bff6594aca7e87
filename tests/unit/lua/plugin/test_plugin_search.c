/* layer: lua */
/* Plugins: search path, refusals of what others may write, single files, require. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lua/plugin/plugin.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "tests/unit/lua/plugin/plugin_dir.h"

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
		cmocka_unit_test(file_is_a_plugin_or_a_script),
		cmocka_unit_test(require_finds_parts_once),
		cmocka_unit_test(require_reaches_nothing_else),
		cmocka_unit_test(require_errors_name_the_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
