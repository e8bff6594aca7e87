/* flame: stack trees, in the formats that flame graph tools open. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "core/base/say.h"
#include "core/report/stacktree.h"
#include "dwarf/stack/backtrace.h"
#include "heap/report/memory_tree.h"
#include "cli/shared/heaps.h"
#include "cli/shared/plugins.h"
#include "cli/shared/stacks.h"
#include "profile/export/tree_page.h"

struct settings {
	const char *as;
	struct xc_plugins plugins;
	struct xc_plugin *plugin; /* NULL: the tree is built in */
	const char *entry;
};

/* By --as, else by the name of the output; folded by default. */
static const char *kind_of(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	const char *by_name = job->common.output ? xc_tree_kind_of(job->common.output) : NULL;
	return s->as ? s->as : by_name ? by_name : "folded";
}

/* With --format the tree is a section of a report. */
static bool writes(const struct xc_job *job)
{
	return job->common.format == NULL;
}

/* The built-in trees. */
static const struct tree {
	const char *name, *title, *unit;
	enum xc_memory_tree_kind kind; /* of all but stacks */
} own[] = {
	{"stacks", "stacks", "threads", 0},
	{"heap", "heap by who holds it", "bytes", XC_MEMORY_TREE_HEAP},
	{"retained", "heap by what keeps it alive", "bytes", XC_MEMORY_TREE_RETAINED},
	{"leaks", "leaked blocks", "bytes", XC_MEMORY_TREE_LEAKS},
};

static const struct tree *own_tree(const char *what)
{
	for (size_t i = 0; i < XC_COUNT(own); i++)
		if (strcmp(own[i].name, what) == 0)
			return &own[i];
	return NULL;
}

/* PLUGIN.KIND */
static struct xc_error *find_plugin(struct xc_job *job, const char *what)
{
	struct settings *s = job->settings;
	const char *dot = strchr(what, '.');
	if (!dot || job->common.plugins == XC_OFF)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "'%s' is not a valid WHAT", what),
				     "stacks, heap, retained, leaks, or PLUGIN.KIND: `xcore plugin list` lists them");
	struct xc_error *err = xc_plugins_of(&job->common, &s->plugins);
	if (err || (err = xc_plugins_prefix(&s->plugins, what, (size_t)(dot - what), &s->plugin)))
		return err;
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
		return xc_error_new(XC_ERR_USAGE, "--as %s and --format %s cannot be combined", settings->as,
				    job->common.format);
	return own_tree(what) ? NULL : find_plugin(job, what);
}

/* The tree is ready for rendering; the job owns it. */
static struct xc_error *make_tree(struct xc_job *job, const struct tree *what, struct xc_stacktree **tree_out)
{
	struct xc_stacktree *tree = job->tree = xc_alloc(sizeof *tree);
	xc_auto(xc_freep) char *title = xc_asprintf("%s of %s", what->title, job->process->target);
	struct xc_error *err = NULL;
	xc_stacktree_init(tree, title, what->unit);
	if (strcmp(what->name, "stacks") == 0) {
		xc_job_stacks(job, false);
		xc_backtrace_tree(tree, job->process);
	} else {
		err = xc_memory_tree_fill(tree, xc_job_heap(job), what->kind);
	}
	if (err)
		return err;
	xc_stacktree_finish(tree);
	*tree_out = tree;
	return NULL;
}

/* The reason why the tree is empty. */
static const char *why_empty(const struct xc_job *job, const struct tree *what)
{
	if (!what)
		return "the plugin added nothing";
	if (strcmp(what->name, "stacks") == 0)
		return "no thread has a stack: `xcore bt` shows why";
	const char *why = job->process->heap ? xc_heap_why_empty(job->process->heap) : NULL;
	return why ? why : "there are none";
}

/* Run the plugin; its tree is then in the report. */
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
	const struct tree *what = s->plugin ? NULL : own_tree(xc_job_operand(job, "WHAT"));
	struct xc_stacktree *made = NULL;
	if (what && (err = make_tree(job, what, &made)))
		return err;
	const struct xc_stacktree *tree = what ? made : xc_runner_tree(job->report);
	if ((!tree || !tree->node_count) && job->common.quiet != XC_ON)
		xc_say("%s: %s", job->process->target, why_empty(job, what));
	if (!tree)
		return NULL;
	return xc_tree_write(tree, kind_of(job), out);
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *s = job->settings;
	if (s->plugin) {
		job->failure = run_plugin(job);
		return NULL;
	}
	const struct tree *what = own_tree(xc_job_operand(job, "WHAT"));
	struct xc_stacktree *tree;
	struct xc_error *err = make_tree(job, what, &tree);
	if (!err)
		xc_section_tree(xc_report_section(job->report, "flame", "Flame graph"), what->name, tree);
	return err;
}

static bool is_binary(const struct xc_job *job)
{
	return xc_flame_is_binary(kind_of(job));
}

static void fini(void *settings)
{
	xc_plugins_fini(&((struct settings *)settings)->plugins);
}

static const char *const trees[] = {"stacks", "heap", "retained", "leaks", NULL};

static const struct xc_operand operands[] = {
	{.name = "WHAT",
	 .about = "the tree to show: stacks (threads by call stack), heap (memory by the chain of types that hold "
		  "it, from the roots), retained (memory by what keeps it alive), leaks, or PLUGIN.KIND (a tree of a "
		  "plugin)",
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
	 .about = "folded (one line per stack), svg (one self-contained picture), html (a page to look around in), "
		  "speedscope, pprof or firefox (for those viewers); default: by the end of the -o file (.svg, .html, "
		  ".speedscope.json, .firefox.json, .pb.gz, .pprof), else folded",
	 .words = xc_tree_kinds},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore flame stacks core.1234 -o stacks.svg", "a flame graph of all threads, to open in a browser"},
	{"xcore flame stacks pid:1234", "folded lines, for other tools"},
	{"xcore flame heap core.1234 -o heap.svg", "the heap by holder"},
	{"xcore flame redis.memory core.1234 -o memory.svg", "the memory that a plugin counts"},
	{.line = NULL},
};

const struct xc_command xc_command_flame = {
	.name = "flame",
	.about = "flame graphs of stacks and memory",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.opened = xc_job_sample_running,
	.produce = produce,
	.writes = writes,
	.write = write_tree,
	.is_binary = is_binary,
	.fini = fini,
};
