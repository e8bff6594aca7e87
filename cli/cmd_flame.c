/* flame: stack trees, in the formats that flame graph tools open. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "../core/stacktree.h"
#include "../dwarf/backtrace.h"
#include "plugins.h"

struct settings {
	const char *as;
	struct xc_plugins plugins;
	struct xc_plugin *plugin; /* NULL: the tree is ours */
	const char *entry;
};

/* --as, else what the output's name says, else folded. */
static bool as_svg(const struct xc_job *job)
{
	const struct settings *settings = job->settings;
	if (settings->as)
		return strcmp(settings->as, "svg") == 0;
	return job->common.output && xc_ends_with(job->common.output, ".svg");
}

/* With --format the tree is a section of a report like any other. */
static bool writes(const struct xc_job *job)
{
	return job->common.format == NULL;
}

/* PLUGIN.KIND */
static struct xc_error *find_plugin(struct xc_job *job, const char *what)
{
	struct settings *s = job->settings;
	const char *dot = strchr(what, '.');
	if (!dot || job->common.plugins == XC_OFF)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "'%s' is no WHAT", what),
				     "stacks, or PLUGIN.KIND: `xcore plugin list` shows which there are");
	xc_auto(xc_freep) char *name = xc_asprintf("%.*s", (int)(dot - what), what);
	struct xc_error *err = xc_plugins_of(&job->common, &s->plugins);
	if (err || (err = xc_plugins_named(&s->plugins, name, &s->plugin))) {
		if (err->code == XC_ERR_NOT_FOUND)
			err->code = XC_ERR_USAGE;
		return err;
	}
	s->entry = dot + 1;
	if (!xc_plugin_entry(&s->plugin->flames, s->entry))
		return xc_plugins_no_entry(s->plugin, &s->plugin->flames, "flame graph", s->entry);
	return NULL;
}

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	const char *what = xc_job_operand(job, "WHAT");
	if (settings->as && job->common.format)
		return xc_error_new(XC_ERR_USAGE, "--as %s and --format %s: give one of them", settings->as,
				    job->common.format);
	return strcmp(what, "stacks") == 0 ? NULL : find_plugin(job, what);
}

/* Ready for rendering; lives in the job. */
static struct xc_stacktree *make_stacks(struct xc_job *job)
{
	struct xc_stacktree *tree = job->tree = xc_alloc(sizeof *tree);
	xc_auto(xc_freep) char *title = xc_asprintf("stacks of %s", job->process->target);
	xc_stacktree_init(tree, title, "threads");
	xc_backtrace_tree(tree, job->process);
	xc_stacktree_finish(tree);
	return tree;
}

/* Into the report, which has its tree then. */
static struct xc_error *run_plugin(struct xc_job *job)
{
	struct settings *s = job->settings;
	struct xc_run run = xc_plugins_run(job, &s->plugins, s->plugin);
	run.what = XC_RUN_FLAME;
	run.entry = s->entry;
	struct xc_error *err = xc_runner_run(&run);
	xc_plugins_explain(err, s->plugin, job->process);
	return err;
}

static struct xc_error *write_tree(struct xc_job *job, FILE *out)
{
	const struct settings *s = job->settings;
	struct xc_error *err = s->plugin ? run_plugin(job) : NULL;
	if (err)
		return err;
	xc_report_finish_trees(job->report);
	const struct xc_stacktree *tree = s->plugin ? xc_runner_tree(job->report) : make_stacks(job);
	if ((!tree || !tree->node_count) && job->common.quiet != XC_ON)
		fprintf(stderr, "xcore: %s: %s\n", job->process->target,
			s->plugin ? "the plugin added nothing" : "no thread has a stack: `xcore bt` tells why");
	if (!tree)
		return NULL;
	return as_svg(job) ? xc_flame_svg(tree, out) : xc_flame_folded(tree, out);
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *s = job->settings;
	if (s->plugin) {
		job->failure = run_plugin(job);
		return NULL;
	}
	xc_section_tree(xc_report_section(job->report, "flame", "Stacks"), "stacks", make_stacks(job));
	return NULL;
}

static void fini(void *settings)
{
	xc_plugins_fini(&((struct settings *)settings)->plugins);
}

static const char *const trees[] = {"stacks", NULL};
static const char *const kinds[] = {"folded", "svg", NULL};

static const struct xc_operand operands[] = {
	{.name = "WHAT",
	 .about = "the tree to show: stacks is that of the threads by where they are, PLUGIN.KIND one of a plugin's",
	 .words = trees,
	 .open = true},
	XC_OPERAND_TARGET,
	{.name = NULL},
};

static const struct xc_option options[] = {
	{.name = "as",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, as),
	 .value = "KIND",
	 .about =
		 "folded (a line per stack) or svg (one self-contained picture); svg when -o ends in .svg, else folded",
	 .words = kinds},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore flame stacks core.1234 -o stacks.svg", "a flame graph of all threads, to open in a browser"},
	{"xcore flame stacks pid:1234", "folded lines, for other tools"},
	{"xcore flame redis.memory core.1234 -o memory.svg", "what a plugin counts"},
	{.line = NULL},
};

const struct xc_command xc_command_flame = {
	.name = "flame",
	.about = "flame graphs of stacks",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.produce = produce,
	.writes = writes,
	.write = write_tree,
	.fini = fini,
};
