/* regs: registers, and the objects that they point to. */
#include "cli/command.h"

#include "core/facts/facts.h"
#include "cli/shared/choose.h"
#include "cli/shared/stacks.h"

struct settings {
	const char *thread;
};

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	return xc_choose_check(settings->thread);
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *settings = job->settings;
	const struct xc_process *process = job->process;
	enum xc_thread_choice choice;
	pid_t tid = 0;
	struct xc_error *err = xc_choose_threads(process, settings->thread, &choice, &tid);
	if (err)
		return err;
	for (size_t i = 0; i < process->thread_count; i++)
		if (xc_choose_takes(choice, tid, &process->threads[i]))
			xc_facts_regs(job->report, process, &process->threads[i]);
	return NULL;
}

static const struct xc_option options[] = {
	XC_THREADS_OPTION(thread),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore regs core.1234", "registers of the crashed thread"},
	{"xcore regs core.1234 --thread 1240", "registers of thread 1240"},
	{.line = NULL},
};

const struct xc_command xc_command_regs = {
	.name = "regs",
	.about = "registers of threads, and what they point to",
	.text = "A running process is not stopped: the registers of a running thread are those of a sample that the "
		"kernel takes (perf events), or unknown. For a thread that waits in a system call the kernel reports "
		"some of them.",
	.operands = xc_target_operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.opened = xc_job_sample_running,
	.produce = produce,
};
