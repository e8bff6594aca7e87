/* plugin_test: a test file is run in several states: once to list its cases (and to create their fixtures), and for
 * each case once with its target and once to compare. So cases are isolated from each other, and the plugin runs as
 * for a user. */
#include "lua/plugin/plugin_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/embed.h"
#include "core/text/suggest.h"
#include "core/base/text.h"
#include "lua/vm/bind.h"
#include "lua/plugin/fixture.h"
#include "lua/plugin/plugin_result.h"
#include "lua/runner/runner.h"

/* The comparison, embedded by the assembler. */
XC_EMBED(xc_plugin_test_bytes, "lua/plugin/plugin_test.lua");

enum { MAX_FILES = 1000, MAX_CASES = 10000, MAX_ARGS = 64 };

/* One case, as described by its file; strings are in the arena of the results. */
struct test_case {
	size_t index; /* from 1 */
	const char *name, *core, *exe, *entry;
	enum xc_run_what what;
	const char *args[MAX_ARGS];
	size_t arg_count;
	struct xc_fixture *fixture;
	struct xc_process *process;
};

/* One running test file. */
struct suite {
	const struct xc_plugin_test_options *options;
	struct xc_plugin_results *results;
	const char *file;   /* "keys.lua" */
	const char *module; /* "redis.test.keys" */
	const char *const *dirs;
	size_t dir_count;
	struct xc_host *host; /* its list of cases is at the bottom of the stack */
	struct test_case current;
};

/* ---- results ---- */

static void add_result(struct suite *s, const char *name, const char *why)
{
	struct xc_plugin_results *r = s->results;
	r->items = xc_grow(r->items, r->count, &r->capacity, sizeof *r->items);
	r->items[r->count++] = (struct xc_plugin_result){
		.name = xc_arena_printf(&r->arena, "%s%s%s", s->file, name ? ": " : "", name ? name : ""),
		.why = xc_arena_strdup(&r->arena, why),
	};
	r->failed += why != NULL;
}

static void add_error(struct suite *s, const char *name, struct xc_error *err)
{
	xc_auto(xc_freep) char *why =
		xc_asprintf("%s%s%s", err->message, err->lines ? "\n" : "", err->lines ? err->lines : "");
	add_result(s, name, why);
	xc_error_free(err);
}

void xc_plugin_results_fini(struct xc_plugin_results *results)
{
	free(results->items);
	xc_arena_fini(&results->arena);
	*results = (struct xc_plugin_results){0};
}

/* ---- reading a case ---- */

static void check_keys(lua_State *L)
{
	static const char *const keys[] = {"name",  "core", "exe",    "fixture", "analyze", "command", "args",
					   "flame", "run",  "expect", "output",  "error",   "check"};
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
		struct xc_suggestion near = xc_suggest(key);
		bool known = false;
		for (size_t i = 0; i < XC_COUNT(keys); i++) {
			known = known || strcmp(key, keys[i]) == 0;
			xc_suggest_consider(&near, keys[i]);
		}
		if (!known)
			xc_bind_fail(L, XC_ERR_USAGE, "unknown key '%.60s'%s%s%s", key,
				     near.best ? ": did you mean '" : "", near.best ? near.best : "",
				     near.best ? "'?" : "");
	}
}

/* A string of the case at the top of the stack; NULL when it has none. */
static const char *read_string(lua_State *L, struct suite *s, const char *key)
{
	const char *text = NULL;
	int kind = lua_getfield(L, -1, key);
	if (kind == LUA_TSTRING)
		text = xc_arena_strdup(&s->results->arena, lua_tostring(L, -1));
	else if (kind != LUA_TNIL)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected a string", key);
	lua_pop(L, 1);
	return text;
}

static void read_args(lua_State *L, struct suite *s)
{
	struct test_case *c = &s->current;
	if (lua_getfield(L, -1, "args") == LUA_TTABLE) {
		for (size_t i = 0; i < lua_rawlen(L, -1); i++) {
			lua_rawgeti(L, -1, (lua_Integer)i + 1);
			if (c->arg_count == MAX_ARGS || !lua_isstring(L, -1))
				xc_bind_fail(L, XC_ERR_USAGE, "args: expected a list of at most %d strings", MAX_ARGS);
			c->args[c->arg_count++] = xc_arena_strdup(&s->results->arena, lua_tostring(L, -1));
			lua_pop(L, 1);
		}
	}
	lua_pop(L, 1);
}

static bool has(lua_State *L, const char *key)
{
	bool there = lua_getfield(L, -1, key) != LUA_TNIL && lua_toboolean(L, -1);
	lua_pop(L, 1);
	return there;
}

static void read_call(lua_State *L, struct suite *s)
{
	struct test_case *c = &s->current;
	const char *command = read_string(L, s, "command"), *flame = read_string(L, s, "flame");
	bool analyze = has(L, "analyze"), code = has(L, "run");
	if ((command != NULL) + (flame != NULL) + analyze + code != 1)
		xc_bind_fail(L, XC_ERR_USAGE, "expected one of analyze, command, flame and run");
	c->what = command ? XC_RUN_COMMAND : flame ? XC_RUN_FLAME : analyze ? XC_RUN_ANALYZE : XC_RUN_SCRIPT;
	c->entry = command ? command : flame;
	read_args(L, s);
}

/* Arguments: the list, the suite. */
static int read_case(lua_State *L)
{
	struct suite *s = lua_touserdata(L, 2);
	struct test_case *c = &s->current;
	lua_settop(L, 1);
	if (lua_rawgeti(L, 1, (lua_Integer)c->index) != LUA_TTABLE)
		xc_bind_fail(L, XC_ERR_USAGE, "a case must be a table");
	c->name = read_string(L, s, "name");
	if (!c->name)
		xc_bind_fail(L, XC_ERR_USAGE, "'name' is missing");
	check_keys(L);
	c->core = read_string(L, s, "core");
	c->exe = read_string(L, s, "exe");
	read_call(L, s);
	if (lua_getfield(L, -1, "fixture") != LUA_TNIL) {
		if (c->core)
			xc_bind_fail(L, XC_ERR_USAGE, "expected either core or fixture, not both");
		c->fixture = xc_fixture_new();
		xc_fixture_read(L, c->fixture);
	} else if (!c->core) {
		xc_bind_fail(L, XC_ERR_USAGE, "expected core or fixture");
	}
	return 0;
}

/* ---- running a case ---- */

/* A path relative to the test file, malloc'ed; NULL gives NULL. */
static char *beside(const struct suite *s, const char *path)
{
	if (!path || path[0] == '/')
		return path ? xc_strdup(path) : NULL;
	return xc_asprintf("%s/%s/test/%s", s->options->plugin->dir->path, s->options->plugin->name, path);
}

static struct xc_error *open_target(struct suite *s)
{
	struct test_case *c = &s->current;
	if (c->fixture) {
		c->process = xc_fixture_process(c->fixture);
		return NULL;
	}
	xc_auto(xc_freep) char *core = beside(s, c->core);
	xc_auto(xc_freep) char *exe = beside(s, c->exe);
	return s->options->open(s->options->user, core, exe, &c->process);
}

static struct xc_error *run_case(struct suite *s, struct xc_report *report)
{
	const struct test_case *c = &s->current;
	const struct xc_plugin *plugin = s->options->plugin;
	xc_auto(xc_freep) char *code =
		xc_asprintf("return require(\"%s\")[%zu].run(xcore.target, xcore.report)", s->module, c->index);
	bool script = c->what == XC_RUN_SCRIPT;
	const struct xc_run run = {
		.process = c->process,
		.report = report,
		.what = c->what,
		.plugin = script ? NULL : plugin->name,
		.name = script ? s->module : plugin->name,
		.chunk = script ? "run" : plugin->path,
		.text = script ? code : plugin->text,
		.len = script ? strlen(code) : plugin->len,
		.entry = c->entry,
		.args = c->args,
		.arg_count = c->arg_count,
		.limits = s->options->limits,
		.module_dirs = s->dirs,
		.module_dir_count = s->dir_count,
		.quiet = true,
		.in_process = s->options->in_process,
	};
	return xc_runner_run(&run);
}

/* ---- comparing ---- */

struct comparing {
	const struct suite *suite;
	const struct xc_report *report;
	const char *error;
};

static int compare(lua_State *L)
{
	const struct comparing *c = lua_touserdata(L, 1);
	if (luaL_loadbufferx(L, xc_plugin_test_bytes, strlen(xc_plugin_test_bytes), "@plugin_test.lua", "t") != LUA_OK)
		return lua_error(L);
	lua_pushstring(L, c->suite->module);
	lua_pushinteger(L, (lua_Integer)c->suite->current.index);
	bool flame = c->suite->current.what == XC_RUN_FLAME;
	xc_plugin_result_push(L, c->report, c->suite->options->plugin->name, c->error,
			      flame ? xc_runner_tree(c->report) : NULL);
	lua_call(L, 3, 0);
	return 0;
}

static void add_difference(void *user, const char *line, size_t len)
{
	struct xc_text *why = user;
	if (why->len)
		xc_text_char(why, '\n');
	xc_text_addn(why, line, len);
}

static void compare_result(struct suite *s, const struct xc_report *report, const struct xc_error *failure)
{
	struct xc_text why = {0};
	struct comparing comparing = {s, report, failure ? failure->message : NULL};
	const struct xc_host_options options = {
		.name = s->module,
		.limits = s->options->limits,
		.module_dirs = s->dirs,
		.module_dir_count = s->dir_count,
		.output = add_difference,
		.output_user = &why,
	};
	struct xc_host *host = xc_host_new(&options);
	struct xc_error *err = xc_host_run(host, s->module, "", 0, NULL, 0);
	if (!err) {
		lua_pushcfunction(host->L, compare);
		lua_pushlightuserdata(host->L, &comparing);
		err = xc_host_call(host, 1);
	}
	if (err)
		add_difference(&why, err->message, strlen(err->message));
	if (failure && failure->lines && why.len)
		add_difference(&why, failure->lines, strlen(failure->lines));
	xc_error_free(err);
	add_result(s, s->current.name, why.len ? xc_text_string(&why) : NULL);
	xc_host_free(host);
	xc_text_fini(&why);
}

static void run_and_compare(struct suite *s)
{
	struct xc_report *report = xc_report_new("test");
	struct xc_error *failure = run_case(s, report);
	xc_report_finish_trees(report);
	compare_result(s, report, failure);
	xc_error_free(failure);
	xc_report_free(report);
}

static void one_case(struct suite *s, size_t index)
{
	s->current = (struct test_case){.index = index};
	lua_State *L = s->host->L;
	lua_settop(L, 1);
	lua_pushcfunction(L, read_case);
	lua_pushvalue(L, 1);
	lua_pushlightuserdata(L, s);
	struct xc_error *err = xc_host_call(s->host, 2);
	if (!err)
		err = open_target(s);
	if (err) {
		xc_auto(xc_freep) char *number = xc_asprintf("case %zu", index);
		add_error(s, s->current.name ? s->current.name : number, err);
	} else {
		run_and_compare(s);
		if (!s->current.fixture)
			s->options->close(s->options->user);
	}
	xc_fixture_free(s->current.fixture);
}

/* ---- files ---- */

static void run_list(struct suite *s)
{
	lua_State *L = s->host->L;
	size_t count = lua_gettop(L) >= 1 && lua_istable(L, 1) ? lua_rawlen(L, 1) : 0;
	if (count == 0 || count > MAX_CASES)
		add_result(s, NULL, "it does not return a list of cases");
	for (size_t i = 1; i <= count && count <= MAX_CASES; i++)
		one_case(s, i);
}

static void run_file(struct suite *s)
{
	const struct xc_plugin *plugin = s->options->plugin;
	xc_auto(xc_freep) char *path = xc_asprintf("%s/test/%s", plugin->name, s->file);
	char *text = NULL;
	size_t len;
	struct xc_error *err = xc_plugindir_read(plugin->dir, path, &text, &len);
	if (err) {
		add_error(s, NULL, err);
		return;
	}
	const struct xc_host_options options = {
		.name = path, .limits = s->options->limits, .module_dirs = s->dirs, .module_dir_count = s->dir_count};
	s->host = xc_host_new(&options);
	if ((err = xc_host_run(s->host, path, text, len, NULL, 0)))
		add_error(s, NULL, err);
	else
		run_list(s);
	xc_host_free(s->host);
	free(text);
}

/* Names of NAME/test/ *.lua, in order. */
static size_t list_files(const struct xc_plugin *plugin, struct xc_arena *arena, const char *names[MAX_FILES])
{
	size_t count = 0;
	xc_auto(xc_freep) char *path = xc_asprintf("%s/test", plugin->name);
	int fd = openat(plugin->dir->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	for (const struct dirent *entry; listing && count < MAX_FILES && (entry = readdir(listing));) {
		size_t len = strlen(entry->d_name);
		if (len <= 4 || strcmp(entry->d_name + len - 4, ".lua") != 0)
			continue;
		names[count++] = xc_arena_strdup(arena, entry->d_name);
	}
	if (listing)
		closedir(listing);
	qsort(names, count, sizeof *names, xc_text_order);
	return count;
}

struct xc_error *xc_plugin_test(const struct xc_plugin_test_options *options, struct xc_plugin_results *results)
{
	const char *names[MAX_FILES];
	size_t count = list_files(options->plugin, &results->arena, names);
	struct suite s = {.options = options, .results = results};
	s.dirs = xc_plugin_module_dirs(options->plugins, options->plugin, &s.dir_count);
	if (!count)
		return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "%s has no tests", options->plugin->name),
				     "tests are files in %s/%s/test", options->plugin->dir->path,
				     options->plugin->name);
	for (size_t i = 0; i < count; i++) {
		s.file = names[i];
		xc_auto(xc_freep) char *stem = xc_asprintf("%.*s", (int)strlen(names[i]) - 4, names[i]);
		s.module = xc_arena_printf(&results->arena, "%s.test.%s", options->plugin->name, stem);
		run_file(&s);
	}
	return NULL;
}
