/* stopped: by the states of the threads (proc(5)): T is stopped by a signal, t by a tracer. */
#include "triage/waits/stopped.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/live/live.h"
#include "core/live/live_proc.h"
#include "triage/waits/waits.h"

bool xc_stopped_is(const struct xc_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (!xc_thread_is_stopped(&process->threads[i]))
			return false;
	return process->live && process->thread_count;
}

/* Of the first thread; 0: none, or it may not be read. */
static pid_t tracer_of(const struct xc_process *process)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	char name[40];
	snprintf(name, sizeof name, "%d/status", (int)process->threads[0].tid);
	if (xc_live_proc_read(xc_live_task_dir(process), name, &text))
		return 0;
	const char *tracer = xc_live_proc_field(xc_text_string(&text), "TracerPid");
	return tracer ? (pid_t)strtol(tracer, NULL, 10) : 0;
}

static const char *cause_of(const struct xc_crash_context *crash)
{
	const struct xc_process *p = crash->process;
	struct xc_arena *arena = &crash->report->arena;
	const pid_t tracer = tracer_of(p);
	if (tracer)
		return xc_arena_printf(arena, "process %d, a debugger or another tracer, has stopped it", (int)tracer);
	return xc_arena_printf(arena,
			       "a signal has stopped it (SIGSTOP, or ^Z and the like at its terminal): `kill -CONT %d` "
			       "continues it",
			       (int)p->pid);
}

bool xc_stopped_classify(struct xc_crash_context *crash)
{
	if (!xc_stopped_is(crash->process))
		return false;
	const struct xc_wait *wait = &xc_waits_of(crash->process)->items[0];
	crash->verdict = xc_report_verdict(crash->report);
	crash->verdict->headline = "the process is stopped: none of its threads may run";
	xc_crash_context_classify(crash, "stopped", NULL, "info", "certain", cause_of(crash));
	crash->thread = wait->thread;
	crash->blame = (struct xc_blame){.place = wait->place, .level = wait->level, .frame = wait->frame};
	xc_verdict_involve(crash->report, wait->thread->tid);
	return true;
}

void xc_stopped_report(struct xc_crash_context *crash)
{
	if (crash->verdict && !xc_crash_context_is(crash, "stopped") && xc_stopped_is(crash->process))
		xc_verdict_evidence(crash->report, "the process is stopped, too: %s", cause_of(crash));
}
