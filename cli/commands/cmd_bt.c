/* bt: stacks with arguments; with locals under --full. */
#include "cli/command.h"

#include <inttypes.h>

#include "dwarf/stack/backtrace.h"
#include "dwarf/stack/second_opinion.h"
#include "heap/query/whatis.h"
#include "cli/shared/choose.h"
#include "cli/shared/heaps.h"
#include "cli/shared/stacks.h"
#include "cli/shared/values.h"
#include "triage/goroutine/gostacks.h"

enum { GOROUTINES = 10000 };

struct settings {
	const char *thread;
	struct xc_value_settings values;
	enum xc_switch full, group, heap, coroutines, opinion;
	unsigned limit;
};

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	return xc_choose_check(settings->thread);
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	struct xc_parked_stack *parked;
	struct xc_backtrace_options options = {
		.args = true,
		.locals = settings->full == XC_ON,
		.group = settings->group == XC_ON,
		.detached = settings->coroutines == XC_ON,
		.max_frames = settings->limit,
		.format = xc_format_defaults(),
	};
	xc_value_settings_apply(&settings->values, &options.format);
	struct xc_error *err = xc_choose_threads(job->process, settings->thread, &options.choice, &options.tid);
	if (err)
		return err;
	if (settings->opinion == XC_ON && (err = xc_second_opinion_open(job->process, &options.opinion)))
		return err;
	if (settings->heap == XC_ON)
		xc_what_annotate(&options.format, xc_job_typed_heap(job));
	xc_job_stacks(job, options.detached);
	uint64_t more;
	size_t most = options.detached ? GOROUTINES : 0;
	options.parked_count = xc_gostacks(job->report, job->process, most, &parked, &more);
	options.parked = parked;
	struct xc_section *s = xc_report_section(job->report, "bt", "Stacks");
	s->schema = job->command->schema;
	err = xc_backtrace(s, job->process, &options);
	xc_second_opinion_close(options.opinion);
	if (more && !err)
		xc_section_message(s, XC_INFO, most ? NULL : "xcore bt --coroutines shows them",
				   "%" PRIu64 " %sgoroutine%s on no thread", more, most ? "more " : "",
				   more == 1 ? " is" : "s are");
	return err;
}

static const struct xc_option options[] = {
	XC_THREADS_OPTION(thread),
	XC_ON_OPTION("full", full, "show local variables too"),
	XC_RAW_OPTION(values),
	XC_HEAP_OPTION(heap),
	XC_ON_OPTION("coroutines", coroutines,
		     "also show stacks that are on no thread: goroutines, and those that plugins know, as coroutines"),
	XC_ON_OPTION("second-opinion", opinion,
		     "let libunwind (libunwind8, opened for this) walk the same stacks, and mark frames that it does "
		     "not find"),
	XC_ON_OPTION("group", group, "fold threads with equal stacks into one"),
	XC_OFF_OPTION("no-group", group, "show every thread (the default)"),
	XC_NUMBER_OPTION(limit, 1, 1000000,
			 "show at most N frames of a stack, from its two ends; default: 1024, fewer "
			 "with many threads"),
	XC_DEPTH_OPTION(values, "3"),
	XC_ELEMENTS_OPTION(values),
	XC_LENGTH_OPTION(values, 10000000, "show at most N bytes of one value; default: 4096"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore bt core.1234", "the crashed thread's stack with arguments"},
	{"xcore bt core.1234 --full", "with local variables"},
	{"xcore bt core.1234 --second-opinion", "where libunwind would see another stack"},
	{"xcore bt pid:1234 --group", "what all threads are doing now, with equal stacks folded"},
	{"xcore bt core.1234 --thread all --format json | jq '.threads[].frames[0].function'", "for programs"},
	{.line = NULL},
};

const struct xc_command xc_command_bt = {
	.name = "bt",
	.about = "stacks of threads, with arguments and locals",
	.text = "Inlined functions are frames of their own. A frame that was found without call frame information "
		"states how: by the frame pointer, or by a scan of the stack (a guess). "
		"With --second-opinion a frame that libunwind does not find likewise states what it finds instead. "
		"Each stack ends with the "
		"reason why it ends. Plugins for this target (see plugin) add the frames of interpreted languages, "
		"which have no number and are marked with their language.",
	.operands = xc_target_operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.schema = "xcore.bt/1",
	.check = check,
	.opened = xc_job_sample_running,
	.produce = produce,
};
