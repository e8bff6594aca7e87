/* bt: stacks with arguments; with locals under --full. */
#include "cli/command.h"

#include "dwarf/stack/backtrace.h"
#include "heap/query/whatis.h"
#include "cli/shared/choose.h"
#include "cli/shared/heaps.h"
#include "cli/shared/stacks.h"

struct settings {
	const char *thread;
	enum xc_switch full, group, raw, heap, coroutines;
	unsigned limit, depth, elements, length;
};

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	return xc_choose_check(settings->thread);
}

static struct xc_format_options format_of(const struct settings *settings)
{
	struct xc_format_options format = xc_format_defaults();
	if (settings->depth)
		format.depth = settings->depth;
	if (settings->elements)
		format.elements = settings->elements;
	if (settings->length)
		format.length = settings->length;
	format.raw = settings->raw == XC_ON;
	return format;
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	struct xc_backtrace_options options = {
		.args = true,
		.locals = settings->full == XC_ON,
		.group = settings->group == XC_ON,
		.detached = settings->coroutines == XC_ON,
		.max_frames = settings->limit,
		.format = format_of(settings),
	};
	struct xc_error *err = xc_choose_threads(job->process, settings->thread, &options.choice, &options.tid);
	if (err)
		return err;
	if (settings->heap == XC_ON)
		xc_what_annotate(&options.format, xc_job_typed_heap(job));
	xc_job_stacks(job);
	struct xc_section *s = xc_report_section(job->report, "bt", "Stacks");
	s->schema = job->command->schema;
	return xc_backtrace(s, job->process, &options);
}

static const char *const threads[] = {"all", "crashed", NULL};

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = NULL},
};

static const struct xc_option options[] = {
	{.name = "thread",
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, thread),
	 .value = "WHICH",
	 .about = "a thread id, all, or crashed; default: the crashed thread, or all when none crashed",
	 .words = threads},
	{.name = "full",
	 .kind = XC_OPTION_ON,
	 .offset = offsetof(struct settings, full),
	 .about = "show local variables too"},
	{.name = "raw",
	 .kind = XC_OPTION_ON,
	 .offset = offsetof(struct settings, raw),
	 .about = "show containers of C++ and Rust by their members instead of their elements"},
	XC_HEAP_OPTION(heap),
	{.name = "coroutines",
	 .kind = XC_OPTION_ON,
	 .offset = offsetof(struct settings, coroutines),
	 .about = "also show stacks that plugins know and that are on no thread: coroutines, fibers"},
	{.name = "group",
	 .kind = XC_OPTION_ON,
	 .offset = offsetof(struct settings, group),
	 .about = "fold threads with equal stacks into one"},
	{.name = "no-group",
	 .kind = XC_OPTION_OFF,
	 .offset = offsetof(struct settings, group),
	 .about = "show every thread (the default)"},
	XC_NUMBER_OPTION(limit, 1, 1000000, "show at most N frames of a stack, from its two ends; default: 1024"),
	XC_NUMBER_OPTION(depth, 1, 100, "expand nested structs at most N levels deep; default: 3"),
	XC_NUMBER_OPTION(elements, 1, 1000000,
			 "show at most N elements of an array or characters of a string; default: 200"),
	XC_NUMBER_OPTION(length, 1, 10000000, "show at most N bytes of one value; default: 4096"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore bt core.1234", "the crashed thread's stack with arguments"},
	{"xcore bt core.1234 --full", "with local variables"},
	{"xcore bt pid:1234 --group", "what all threads are doing now, with equal stacks folded"},
	{"xcore bt core.1234 --thread all --format json | jq '.threads[].frames[0].function'", "for programs"},
	{.line = NULL},
};

const struct xc_command xc_command_bt = {
	.name = "bt",
	.about = "stacks of threads, with arguments and locals",
	.text = "Inlined functions are frames of their own. A frame that was found without call frame information "
		"states how: by the frame pointer, or by a scan of the stack (a guess). Each stack ends with the "
		"reason why it ends. Plugins for this target (see plugin) add the frames of interpreted languages, "
		"which have no number and are marked with their language.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.schema = "xcore.bt/1",
	.check = check,
	.produce = produce,
};
