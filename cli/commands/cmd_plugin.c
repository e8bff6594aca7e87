/* plugin: list, describe, create and test plugins. */
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/shellword.h"
#include "lua/plugin/plugin_new.h"
#include "lua/plugin/plugin_report.h"
#include "lua/plugin/plugin_test.h"
#include "cli/shared/plugins.h"
#include "cli/target.h"

struct settings {
	const char *type, *variable, *dir;
	struct xc_plugins plugins;
};

/* ---- usage ---- */

static struct xc_error *check_options(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	struct xc_error *err;
	if ((err = xc_job_goes_with(job, s->type, "struct", "new")) ||
	    (err = xc_job_goes_with(job, s->variable, "var", "new")))
		return err;
	return xc_job_goes_with(job, s->dir, "dir", "new");
}

/* `plugin list TARGET` has no NAME. */
static void shift_operands(struct xc_job *job)
{
	xc_words_add(&job->operands, NULL);
	job->operands.items[2] = job->operands.items[1];
	job->operands.items[1] = "";
}

static struct xc_error *check(struct xc_job *job)
{
	size_t count = job->operands.count;
	struct xc_error *err = check_options(job);
	if (err)
		return err;
	if (xc_job_is(job, "list") && count == 2)
		shift_operands(job);
	else if (xc_job_is(job, "list") && count > 2)
		return xc_error_new(XC_ERR_USAGE, "unexpected argument '%s'", job->operands.items[2]);
	if (!xc_job_is(job, "list") && count < 2)
		return xc_error_new(XC_ERR_USAGE, "%s needs the NAME of a plugin", job->operands.items[0]);
	if ((xc_job_is(job, "doc") || xc_job_is(job, "test")) && count > 2)
		return xc_error_new(XC_ERR_USAGE, "unexpected argument '%s'", job->operands.items[2]);
	if (xc_job_is(job, "new") && count > 2 && strncmp(job->operands.items[2], "pid:", 4) == 0)
		return xc_error_hint(xc_error_new(XC_ERR_UNSUPPORTED,
						  "new cannot create files while it reads a running "
						  "process"),
				     "give a core, or omit TARGET");
	return NULL;
}

/* ---- list, doc ---- */

static struct xc_error *list(struct xc_job *job)
{
	struct settings *s = job->settings;
	struct xc_error *err = xc_plugins_of(&job->common, &s->plugins);
	if (!err)
		xc_plugin_report_list(job->report, &s->plugins, job->process);
	return err;
}

static struct xc_error *doc(struct xc_job *job)
{
	struct settings *s = job->settings;
	struct xc_plugin *plugin;
	struct xc_error *err = xc_plugins_of(&job->common, &s->plugins);
	if (err || (err = xc_plugins_named(&s->plugins, job->operands.items[1], &plugin)))
		return err;
	xc_plugin_report_doc(job->report, plugin);
	return NULL;
}

/* ---- new ---- */

static struct xc_error *make_new(struct xc_job *job)
{
	const struct settings *s = job->settings;
	struct xc_report *report = job->report;
	struct xc_process *process = job->process;
	xc_auto(xc_freep) char *users = xc_plugindir_users();
	struct xc_plugin_new what = {.dir = s->dir ? s->dir : users,
				     .name = job->operands.items[1],
				     .variable = s->variable,
				     .module = process && process->module_count ? process->modules[0]->name : NULL,
				     .type = "struct example"};
	if (!what.dir)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "there is no directory for plugins"),
				     "give --dir DIR, or set XDG_DATA_HOME or HOME");
	struct xc_error *err = s->type ? xc_plugin_new_type(process, &report->arena, s->type, &what.type) : NULL;
	if (!err && process && !what.variable)
		what.variable = xc_plugin_new_variable(process, &report->arena, what.type);
	if (err || (err = xc_plugin_new(&what)))
		return err;
	struct xc_section *section = xc_report_section(report, "new", "New plugin");
	xc_auto(xc_freep) char *file = xc_asprintf("%s/%s/init.lua", what.dir, what.name);
	xc_auto(xc_freep) char *test = xc_asprintf("%s/%s/test/show.lua", what.dir, what.name);
	xc_auto(xc_freep) char *dir = s->dir ? xc_shellword_file(s->dir) : NULL;
	xc_auto(xc_freep) char *path = dir ? xc_asprintf(" --plugin-path %s", dir) : NULL;
	xc_auto(xc_freep) char *next =
		xc_asprintf("xcore run %s.show TARGET %s%s\nxcore plugin test %s%s", what.name,
			    what.variable ? what.variable : "VARIABLE", path ? path : "", what.name, path ? path : "");
	xc_section_text(section, "plugin", "plugin", file);
	xc_section_text(section, "test", "its tests", test);
	xc_section_text(section, "type", "shows", what.type);
	xc_section_lines(section, "next", next);
	return NULL;
}

/* ---- test ---- */

struct opener {
	const struct xc_common *common;
	struct xc_target target;
};

static struct xc_error *open_case(void *user, const char *core, const char *exe, struct xc_process **process_out)
{
	struct opener *o = user;
	struct xc_common common = *o->common;
	if (exe)
		common.exe = exe;
	struct xc_error *err = xc_target_open(&o->target, core, &common, NULL, NULL);
	if (!err)
		*process_out = o->target.process;
	return err;
}

static void close_case(void *user)
{
	struct opener *o = user;
	xc_target_close(&o->target);
}

/* A plugin given as a directory is tested in place: its parent directory is searched first. */
static struct xc_error *open_for_test(struct xc_job *job, struct xc_plugin **plugin_out)
{
	struct settings *s = job->settings;
	const char *what = job->operands.items[1];
	struct xc_words dirs = {0};
	xc_auto(xc_freep) char *real = strchr(what, '/') || strcmp(what, ".") == 0 ? realpath(what, NULL) : NULL;
	if (!real && strchr(what, '/'))
		return xc_error_errno(errno, "%s", what);
	char *slash = real ? strrchr(real, '/') : NULL;
	if (slash) {
		*slash = '\0';
		xc_words_add(&dirs, *real ? real : "/");
	}
	for (size_t i = 0; i < job->common.plugin_paths.count; i++)
		xc_words_add(&dirs, job->common.plugin_paths.items[i]);
	struct xc_error *err = xc_plugins_open(&s->plugins, dirs.items, dirs.count);
	xc_words_fini(&dirs);
	if (!err && (err = xc_plugins_named(&s->plugins, slash ? slash + 1 : what, plugin_out)) &&
	    err->code == XC_ERR_NOT_FOUND && slash) {
		xc_error_free(err);
		err = xc_error_new(XC_ERR_NOT_FOUND, "%s is not a plugin: it contains no init.lua", what);
	}
	return err;
}

/* TAP; differences follow below the line of a failed test. */
static void write_results(const struct xc_plugin_results *results, FILE *out)
{
	fprintf(out, "1..%zu\n", results->count);
	for (size_t i = 0; i < results->count; i++) {
		const struct xc_plugin_result *r = &results->items[i];
		struct xc_text text = {0};
		xc_text_printf(&text, "%sok %zu - ", r->why ? "not " : "", i + 1);
		xc_text_name(&text, r->name);
		for (const char *line = r->why; line && *line; line += *line == '\n') {
			size_t len = strcspn(line, "\n");
			xc_auto(xc_freep) char *one = xc_asprintf("%.*s", (int)len, line);
			xc_text_add(&text, "\n# ");
			xc_text_name(&text, one);
			line += len;
		}
		fprintf(out, "%s\n", xc_text_string(&text));
		xc_text_fini(&text);
	}
}

static void report_results(const struct xc_plugin_results *results, struct xc_report *report)
{
	const struct xc_column columns[] = {{.key = "name", .label = "test", .kind = XC_FIELD_TEXT},
					    {.key = "passed", .label = "passed", .kind = XC_FIELD_BOOL},
					    {.key = "why", .label = "why not", .kind = XC_FIELD_TEXT}};
	struct xc_section *s = xc_report_section(report, "tests", "Tests");
	xc_section_count(s, "passed", "passed", results->count - results->failed);
	xc_section_count(s, "failed", "failed", results->failed);
	struct xc_table *table = xc_section_table(s, "tests", columns, XC_COUNT(columns));
	for (size_t i = 0; i < results->count; i++) {
		const struct xc_plugin_result *r = &results->items[i];
		xc_table_row(s, table,
			     (struct xc_cell[]){xc_cell_text(r->name), xc_cell_bool(!r->why),
						r->why ? xc_cell_text(r->why) : xc_cell_null(NULL)});
	}
}

static struct xc_error *test(struct xc_job *job, FILE *out)
{
	struct settings *s = job->settings;
	struct xc_plugin *plugin;
	struct opener opener = {.common = &job->common};
	struct xc_plugin_results results = {0};
	struct xc_error *err = open_for_test(job, &plugin);
	if (err)
		return err;
	const struct xc_plugin_test_options options = {
		.plugins = &s->plugins,
		.plugin = plugin,
		.limits = xc_plugins_limits(&job->common),
		.open = open_case,
		.close = close_case,
		.user = &opener,
	};
	if ((err = xc_plugin_test(&options, &results))) {
		xc_plugin_results_fini(&results);
		return err;
	}
	if (job->common.format && strcmp(job->common.format, "text") != 0)
		report_results(&results, job->report);
	else
		write_results(&results, out);
	if (results.failed)
		job->status = XC_EXIT_POLICY;
	xc_plugin_results_fini(&results);
	return NULL;
}

/* ---- the command ---- */

static struct xc_error *produce(struct xc_job *job)
{
	return xc_job_is(job, "list") ? list(job) : make_new(job);
}

static struct xc_error *run(struct xc_job *job, FILE *out)
{
	bool tap = xc_job_is(job, "test") && (!job->common.format || strcmp(job->common.format, "text") == 0);
	struct xc_report *report = job->report = xc_report_new("plugin");
	struct xc_error *err = xc_job_is(job, "list")  ? list(job)
			       : xc_job_is(job, "doc") ? doc(job)
			       : xc_job_is(job, "new") ? make_new(job)
						       : test(job, out);
	if (tap) {
		xc_report_free(report);
		job->report = NULL;
	}
	return err;
}

static void fini(void *settings)
{
	struct settings *s = settings;
	xc_plugins_fini(&s->plugins);
}

static const char *const words[] = {"list", "doc", "new", "test", NULL};

static const struct xc_operand operands[] = {
	{.name = "WHAT",
	 .about = "list (installed plugins, and which of them match TARGET), doc (describe one), new (create one), "
		  "test (run its tests)",
	 .words = words},
	{.name = "NAME",
	 .optional = true,
	 .about = "the name of the plugin; test: or its directory; list: omitted",
	 .complete = XC_COMPLETE_FILE},
	{.name = "TARGET",
	 .optional = true,
	 .about = "list, new: a core file; list: or pid:N for a running process",
	 .complete = XC_COMPLETE_TARGET},
	{.name = NULL},
};

#define AT(member) offsetof(struct settings, member)

static const struct xc_option options[] = {
	{.name = "struct",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(type),
	 .value = "TYPE",
	 .about = "new: the type that the plugin shows; if TARGET is given, it must have the type"},
	{.name = "var",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(variable),
	 .value = "VARIABLE",
	 .about = "new: a variable of that type, for the plugin to show in analyze; default: the first in TARGET"},
	{.name = "dir",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(dir),
	 .value = "DIR",
	 .about = "new: the directory to create it in; default: ~/.local/share/xcore/plugins",
	 .complete = XC_COMPLETE_DIR},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore plugin list core.1234", "the installed plugins, and which of them match this core"},
	{"xcore plugin doc redis", "the commands of a plugin and their arguments"},
	{"xcore plugin new mine --struct client core.1234", "a plugin that shows struct client, with its tests"},
	{"xcore plugin test mine", "run its tests"},
	{.line = NULL},
};

const struct xc_command xc_command_plugin = {
	.name = "plugin",
	.about = "list, describe, create and test plugins",
	.text = "A plugin is NAME.lua or NAME/init.lua in a plugin directory: --plugin-path, "
		"~/.local/share/xcore/plugins, or the installation directory; the first one with the name is used. "
		"Files that other users can write are not read. The tests of a plugin are NAME/test/*.lua; `plugin "
		"test` prints TAP and exits with status 1 when one fails.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.produce = produce,
	.run = run,
	.acts = true,
	.fini = fini,
};
