/* run: a command of a plugin, or a script, on the target. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text/shellword.h"
#include "lua/plugin/plugin_report.h"
#include "cli/shared/plugins.h"
#include "cli/shared/profiler.h"

struct settings {
	const char *code;
	enum xc_switch unsafe;
	struct xc_plugins plugins;
	struct xc_profiler profiler;
	struct xc_plugin *plugin; /* or a script, which has no name */
	char *text;               /* the script made from -e */
	bool shows;               /* show the values that it returns */
	const char *entry;        /* the command; NULL: analyze, or the script itself */
};

/* ---- what to run ---- */

/* FILE.lua:COMMAND: the command, else NULL. */
static const char *command_of_file(const char *what)
{
	const char *colon = strrchr(what, ':');
	return colon && colon - what > 4 && strncmp(colon - 4, ".lua", 4) == 0 && colon[1] ? colon + 1 : NULL;
}

static bool is_file(const char *what)
{
	return strchr(what, '/') || xc_ends_with(what, ".lua") || command_of_file(what);
}

static struct xc_error *find_entry(struct settings *s)
{
	const struct xc_plugin *plugin = s->plugin;
	if (!plugin->name && s->entry)
		return xc_error_new(XC_ERR_USAGE, "%s is a script, not a plugin, and has no command '%s'", plugin->path,
				    s->entry);
	if (s->entry && !xc_plugin_entry(&plugin->commands, s->entry))
		return xc_plugins_no_entry(plugin, &plugin->commands, "command", s->entry);
	return NULL;
}

static struct xc_error *find_file(struct settings *s, const char *what)
{
	s->entry = command_of_file(what);
	size_t len = s->entry ? (size_t)(s->entry - 1 - what) : strlen(what);
	xc_auto(xc_freep) char *path = xc_asprintf("%.*s", (int)len, what);
	struct xc_error *err = xc_plugins_file(&s->plugins, path, &s->plugin);
	return err ? err : find_entry(s);
}

static struct xc_error *find_plugin(struct settings *s, const char *what)
{
	size_t len = strcspn(what, ".");
	s->entry = what[len] ? what + len + 1 : NULL;
	struct xc_error *err = xc_plugins_prefix(&s->plugins, what, len, &s->plugin);
	return err ? err : find_entry(s);
}

/* "nginx.lua": the command `lua` of the plugin nginx, if there is no such file. */
static bool is_command_lua(struct settings *s, const char *what)
{
	if (strchr(what, '/') || !xc_ends_with(what, ".lua") || access(what, F_OK) == 0)
		return false;
	struct xc_error *err = find_plugin(s, what);
	xc_error_free(err);
	return !err;
}

/* `= EXPRESSION` shows a value; t is the target. All on one line, so that line numbers are those of the user's code. */
static void make_script(struct settings *s)
{
	struct xc_plugin *script = s->plugin = xc_arena_alloc(&s->plugins.arena, sizeof *script);
	const char *code = s->code + strspn(s->code, " \t\n");
	s->shows = *code == '=';
	s->text = xc_asprintf("local t <const> = xcore.target; %s%s", s->shows ? "return " : "",
			      s->shows ? code + 1 : s->code);
	*script = (struct xc_plugin){.path = "-e", .file = "-e", .text = s->text, .len = strlen(s->text), .read = true};
}

static struct xc_error *find(struct xc_job *job)
{
	struct settings *s = job->settings;
	const char *what = xc_job_operand(job, "WHAT");
	struct xc_error *err = xc_plugins_of(&job->common, &s->plugins);
	if (err)
		return err;
	if (s->code)
		make_script(s);
	else if (is_file(what) && (job->common.plugins == XC_OFF || !is_command_lua(s, what)))
		return find_file(s, what);
	else if (job->common.plugins == XC_OFF)
		return xc_error_new(XC_ERR_USAGE, "'%s' is a plugin, but --no-plugins is given", what);
	else
		return find_plugin(s, what);
	return NULL;
}

/* ---- usage ---- */

/* With -e there is no WHAT on the command line. */
static void shift_operands(struct xc_job *job)
{
	xc_words_add(&job->operands, NULL);
	memmove(job->operands.items + 1, job->operands.items, (job->operands.count - 1) * sizeof(const char *));
	job->operands.items[0] = "-e";
}

static struct xc_error *check(struct xc_job *job)
{
	struct settings *s = job->settings;
	struct xc_error *err;
	if (s->code)
		shift_operands(job);
	if (!job->operands.count)
		return xc_error_new(XC_ERR_USAGE, "WHAT is missing: PLUGIN.COMMAND, a file, or -e CODE");
	const char *target = xc_job_operand(job, "TARGET");
	if (target && target[0] == '-')
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "unknown option %s", target),
				     "put options of the script or plugin after TARGET");
	if ((err = find(job)))
		return err;
	if (!target && (s->entry || !s->plugin->name))
		return xc_error_new(XC_ERR_USAGE, "TARGET is missing: a core file, or pid:N for a running process");
	if (target && s->plugin->name && !s->entry && !s->plugin->analyzes) {
		xc_auto(xc_freep) char *list = xc_plugins_list(&s->plugin->commands);
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "which command of plugin %s?", s->plugin->name),
				     "it has: %s", list);
	}
	return NULL;
}

/* --help for a command of a plugin. Errors are reported when it is run. */
static bool help(const struct xc_job *job, FILE *out)
{
	struct settings *s = job->settings;
	const char *what = s->code || !job->operands.count ? NULL : job->operands.items[0];
	if (!what)
		return false;
	struct xc_error *err = xc_plugins_of(&job->common, &s->plugins);
	if (!err && is_file(what) && !is_command_lua(s, what))
		return false;
	if (!err)
		err = find_plugin(s, what);
	const struct xc_plugin_entry *entry = err || !s->entry ? NULL : xc_plugin_entry(&s->plugin->commands, s->entry);
	xc_error_free(err);
	if (!entry)
		return false;
	xc_auto(xc_freep) char *word = xc_shellword_file(what);
	xc_auto(xc_text_fini) struct xc_text about = {0}, usage = {0};
	xc_text_name(&about, entry->about ? entry->about : "");
	xc_text_name(&usage, entry->usage ? entry->usage : "");
	fprintf(out, "%s: %s\n\nusage: xcore run [OPTIONS] %s TARGET%s%s\n", word, xc_text_string(&about), word,
		entry->usage ? " " : "", xc_text_string(&usage));
	return true;
}

/* ---- running ---- */

static struct xc_error *opened(struct xc_job *job)
{
	struct settings *s = job->settings;
	xc_profiler_open(&s->profiler, job);
	return NULL;
}

static struct xc_error *produce(struct xc_job *job)
{
	struct settings *s = job->settings;
	struct xc_run run = xc_plugins_run(job, &s->plugins, s->plugin);
	run.what = s->entry ? XC_RUN_COMMAND : s->plugin->name ? XC_RUN_ANALYZE : XC_RUN_SCRIPT;
	run.entry = s->entry;
	run.args = job->operands.items + 2;
	run.arg_count = job->operands.count - 2;
	run.unsafe = s->unsafe == XC_ON;
	run.shows = s->shows;
	run.profiler = s->profiler.child;
	if (!job->common.format || strcmp(job->common.format, "text") == 0)
		run.stream = job->out;
	xc_report_answer(job->report, s->plugin->name, s->entry ? s->entry : s->plugin->name ? "analyze" : NULL);
	job->failure = xc_runner_run(&run);
	xc_plugins_explain(job->failure, s->plugin, job->process);
	if (job->failure && job->failure->code == XC_ERR_USAGE)
		free(xc_take(job->failure->lines)); /* an error in the arguments: the script's line is of no use */
	if (job->failure)
		job->report->error = xc_arena_strdup(&job->report->arena, job->failure->message);
	return NULL;
}

/* A plugin without command and target: describe it. */
static struct xc_error *run(struct xc_job *job, FILE *out)
{
	const struct settings *s = job->settings;
	(void)out;
	job->report = xc_report_new("plugin");
	xc_plugin_report_doc(job->report, s->plugin);
	return NULL;
}

static void fini(void *settings)
{
	struct settings *s = settings;
	xc_profiler_fini(&s->profiler);
	xc_plugins_fini(&s->plugins);
	free(s->text);
}

static const struct xc_operand operands[] = {
	{.name = "WHAT",
	 .optional = true,
	 .about = "PLUGIN.COMMAND; PLUGIN (its part of `analyze`; without TARGET its description); a file: FILE.lua, "
		  "or FILE.lua:COMMAND for a plugin; omitted with -e",
	 .complete = XC_COMPLETE_FILE},
	{.name = "TARGET",
	 .optional = true,
	 .about = "a core file, or pid:N for a running process",
	 .complete = XC_COMPLETE_TARGET},
	{.name = "ARGUMENT",
	 .optional = true,
	 .many = true,
	 .about = "arguments and options of the command or script; after -- also options that xcore has"},
	{.name = NULL},
};

#define AT(member) offsetof(struct settings, member)

static const struct xc_option options[] = {
	{.name = "code",
	 .letter = 'e',
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(code),
	 .value = "CODE",
	 .about = "run CODE; t is the target; `= EXPRESSION` prints a value, and lists of records as tables"},
	XC_ON_OPTION("allow-unsafe", unsafe,
		     "also give the script io, os and bytecode loading: only for scripts that you trust"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore run redis.keys core.1234 --db 3", "a command of a plugin, with its own options"},
	{"xcore run redis", "the description of a plugin and its commands"},
	{"xcore run count.lua pid:1234", "a script on a running process"},
	{"xcore run -e '= t:var \"server\".port' core.1234", "one line of Lua"},
	{.line = NULL},
};

const struct xc_command xc_command_run = {
	.name = "run",
	.about = "run a command of a plugin, or a Lua script, on the target",
	.text = "The script accesses the target through the module xcore, in the same way for cores and running "
		"processes, and nothing else of this host. It prints lines and adds sections to the report. It runs "
		"in its own process with limits (--max-time and others). Plugins are loaded from --plugin-path, "
		"~/.local/share/xcore/plugins and the installation directory, never from the current "
		"directory.\n\nOptions of xcore are recognized everywhere. After TARGET, options that xcore does "
		"not know are passed to the script; after -- all are. When the script fails, its partial report is "
		"shown and the exit status is 4, or 2 if it rejects its arguments.\n\nRedaction (--redact, or "
		"CI=true) hides what a script marks as private in its sections, and values of the target in them. "
		"Lines that the script prints are not redacted.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.opened = opened,
	.produce = produce,
	.run = run,
	.acts = true,
	.fini = fini,
	.help = help,
	.foreign_options_after = 2,
};
