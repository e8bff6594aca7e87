/* analyze: the full report, the most urgent part first: verdict, crashed stack with values, other threads, problems
 * with modules, missing parts of the target. */
#include "cli/command.h"

#include <inttypes.h>

#include "cli/shared/heaps.h"
#include "cli/shared/plugins.h"
#include "cli/shared/stacks.h"
#include "core/facts/missing.h"
#include "dwarf/stack/backtrace.h"
#include "dwarf/report/modules_report.h"
#include "heap/report/summary.h"
#include "triage/cause.h"
#include "triage/goroutine/gostacks.h"
#include "triage/locks/deadlock.h"
#include "triage/locks/wait_report.h"

enum { GOROUTINES = 200 };

struct settings {
	unsigned limit;
	enum xc_switch group;
};

static size_t count_crashed(const struct xc_process *process)
{
	size_t count = 0;
	for (size_t i = 0; i < process->thread_count; i++)
		count += process->threads[i].crashed;
	return count;
}

static void crashed_thread(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	bool foreign = xc_signal_is_foreign(&job->process->signal, job->process->pid);
	struct xc_section *s = xc_report_section(job->report, "crashed",
						 foreign ? "The thread that took the signal" : "Crashed thread");
	struct xc_backtrace_options options = {
		.choice = XC_THREADS_CRASHED,
		.args = true,
		.locals = true,
		.brief = true,
		.max_frames = settings->limit,
		.format = xc_format_defaults(),
	};
	struct xc_error *err = xc_backtrace(s, job->process, &options);
	if (err)
		xc_section_note(s, err);
	xc_wait_report_stacks(s, job->process);
}

/* Stacks in brief: those that are equal once. `of` says which. */
static void add_brief_stacks(struct xc_job *job, struct xc_section *s, struct xc_backtrace_options of)
{
	const struct settings *settings = job->settings;
	of.group = xc_switch_or(settings->group, true);
	of.brief = true;
	of.max_frames = settings->limit;
	of.format = xc_format_defaults();
	struct xc_error *err = xc_backtrace(s, job->process, &of);
	if (err)
		xc_section_note(s, err);
}

static void other_threads(struct xc_job *job, bool all)
{
	const struct xc_verdict *verdict = job->report->verdict; /* the threads of a deadlock come first */
	struct xc_section *s = xc_report_section(job->report, "threads", all ? "Threads" : "Other threads");
	add_brief_stacks(job, s,
			 (struct xc_backtrace_options){
				 .choice = all ? XC_THREADS_ALL : XC_THREADS_OTHERS,
				 .first = verdict ? verdict->involved : NULL,
				 .first_count = verdict ? verdict->involved_count : 0,
			 });
	xc_wait_report_stacks(s, job->process);
}

/* Those of Go's goroutines that no thread runs. */
static void goroutines(struct xc_job *job)
{
	struct xc_parked_stack *parked;
	uint64_t more;
	size_t count = xc_gostacks(job->report, job->process, GOROUTINES, &parked, &more);
	if (!count)
		return;
	struct xc_section *s = xc_report_section(job->report, "goroutines", "Goroutines");
	add_brief_stacks(
		job, s,
		(struct xc_backtrace_options){.choice = XC_THREADS_NONE, .parked = parked, .parked_count = count});
	if (more)
		xc_section_message(s, XC_INFO, "xcore bt --coroutines shows them",
				   "%" PRIu64 " more goroutine%s on no thread", more, more == 1 ? " is" : "s are");
}

/* For a running process this would read all of its memory, so only `heap` does it. */
static void heap_in_brief(struct xc_job *job)
{
	if (job->process->live)
		return;
	struct xc_section *s = xc_report_section(job->report, "heap", "Heap");
	xc_heap_summary_brief(s, xc_job_heap(job));
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct xc_process *process = job->process;
	size_t crashed = count_crashed(process);
	xc_job_stacks(job, false);
	xc_cause(job->report, job->process, process->live ? NULL : xc_job_heap(job));
	if (crashed)
		crashed_thread(job);
	xc_deadlock_report(job->report, job->process);
	if (process->thread_count > crashed)
		other_threads(job, crashed == 0);
	goroutines(job);
	xc_modules_report_problems(job->report, job->process);
	heap_in_brief(job);
	xc_missing_report(job->report, process);
	return job->common.plugins == XC_OFF ? NULL : xc_plugins_analyze(job);
}

static const struct xc_option options[] = {
	{.name = "limit",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, limit),
	 .value = "N",
	 .about = "show at most N frames of a stack, from its two ends; default: 1024, fewer with many threads",
	 .min = 1,
	 .max = 1000000},
	XC_OFF_OPTION("no-group", group, "show every thread, also threads with equal stacks"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore analyze core.1234", "what crashed, where and why"},
	{"xcore analyze pid:1234", "what a running process is doing, without stopping it"},
	{"xcore analyze core.1234.zst --sysroot /srv/images/web-42", "a core from another host, with the files of "
								     "that host"},
	{"xcore analyze core.1234 --format html -o report.html", "one page to attach to a ticket"},
	{"xcore analyze core.1234 -q --fail-on high", "in CI: exit with status 1 when the severity is high or worse"},
	{.line = NULL},
};

const struct xc_command xc_command_analyze = {
	.name = "analyze",
	.about = "the full report: what crashed, where and why, and what the other threads were doing",
	.text = "The report starts with a verdict: the signal in words, thread, function, file and line, and the "
		"source line when the file is available. Under \"why\" are the class of the crash (null-read, "
		"use-after-free, deadlock, out-of-memory, panic of Rust or Go ...), the bad expression, the origin "
		"of its value, and the evidence: the instruction with its registers, the relation of the fault "
		"address to mappings and heap, or the line of the script where an interpreter died. The severity "
		"estimates what an attacker could do with the bug. A class is certain, likely (another cause is "
		"possible) or a guess. A line that starts with \"missing:\" names what could not be "
		"checked.\n\nThen follow the crashed stack with the program's own arguments and locals (bt --full "
		"shows all), the locks that threads wait for, the holders of these locks and the threads that wait "
		"for each other, the other threads (equal stacks are folded into one, also stacks that differ only "
		"in the depth of a recursion), Go's goroutines that no thread runs, modules with problems and what to "
		"install, missing parts of the "
		"target, and the sections of the plugins for this program (see plugin).",
	.operands = xc_target_operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.opened = xc_job_sample_running,
	.produce = produce,
	.leads_with_target = true,
};
