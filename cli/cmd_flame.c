/* flame: stack trees, in the formats that flame graph tools open. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "../core/stacktree.h"
#include "../dwarf/backtrace.h"

struct settings {
	const char *as;
};

static bool ends_with(const char *text, const char *tail)
{
	size_t len = strlen(text), tail_len = strlen(tail);
	return len >= tail_len && strcmp(text + len - tail_len, tail) == 0;
}

/* --as, else what the output's name says, else folded. */
static bool as_svg(const struct xc_job *job)
{
	const struct settings *settings = job->settings;
	if (settings->as)
		return strcmp(settings->as, "svg") == 0;
	return job->common.output && ends_with(job->common.output, ".svg");
}

/* With --format the tree is a section of a report like any other. */
static bool writes(const struct xc_job *job)
{
	return job->common.format == NULL;
}

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	if (settings->as && job->common.format)
		return xc_error_new(XC_ERR_USAGE, "--as %s and --format %s: give one of them", settings->as,
				    job->common.format);
	return NULL;
}

/* Ready for rendering; lives in the job. */
static struct xc_stacktree *make_tree(struct xc_job *job)
{
	struct xc_stacktree *tree = job->tree = xc_alloc(sizeof *tree);
	xc_auto(xc_freep) char *title = xc_asprintf("stacks of %s", job->process->target);
	xc_stacktree_init(tree, title, "threads");
	xc_backtrace_tree(tree, job->process);
	xc_stacktree_finish(tree);
	return tree;
}

static struct xc_error *write_tree(struct xc_job *job, FILE *out)
{
	const struct xc_stacktree *tree = make_tree(job);
	if (!tree->node_count && job->common.quiet != XC_ON)
		fprintf(stderr, "xcore: %s: no thread has a stack: `xcore bt` tells why\n", job->process->target);
	return as_svg(job) ? xc_flame_svg(tree, out) : xc_flame_folded(tree, out);
}

static struct xc_error *produce(struct xc_job *job)
{
	xc_section_tree(xc_report_section(job->report, "flame", "Stacks"), "stacks", make_tree(job));
	return NULL;
}

static const char *const trees[] = {"stacks", NULL};
static const char *const kinds[] = {"folded", "svg", NULL};

static const struct xc_operand operands[] = {
	{.name = "WHAT", .about = "the tree to show; stacks is that of the threads by where they are", .words = trees},
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
};
