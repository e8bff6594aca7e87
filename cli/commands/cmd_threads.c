/* threads: the threads, with names, states and current functions. */
#include "cli/command.h"

#include "core/facts/facts.h"
#include "dwarf/symbolize/debuginfo.h"
#include "triage/locks/wait_report.h"
#include "cli/shared/stacks.h"

static const char *function_at(const struct xc_process *process, xc_addr pc)
{
	const struct xc_place *place = xc_debuginfo_place(process, pc);
	return place->level_count && place->levels[0].function ? place->levels[0].function : place->symbol;
}

static struct xc_error *produce(struct xc_job *job)
{
	xc_facts_threads(job->report, job->process, function_at);
	xc_wait_report_section(job->report, job->process);
	return NULL;
}

static const struct xc_example examples[] = {
	{"xcore threads core.1234", "one line per thread"},
	{"xcore threads pid:1234", "with states, and the system calls they wait in"},
	{.line = NULL},
};

const struct xc_command xc_command_threads = {
	.name = "threads",
	.about = "the threads, with names, states and current functions",
	.text = "A second table lists waiting threads: the function that the thread was started with, what it waits "
		"for (a lock with its name and holder, a condition variable, another thread, a file descriptor, a "
		"timeout), and the program's own function that waits. `xcore analyze` shows which threads wait for "
		"each other (Locks).",
	.operands = xc_target_operands,
	.examples = examples,
	.opened = xc_job_sample_running,
	.produce = produce,
};
