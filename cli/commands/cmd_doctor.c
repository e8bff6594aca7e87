/* doctor: does a crash here leave a core, and what must change so that it does? */
#include "cli/command.h"

#include <stdlib.h>

#include "batch/doctor/doctor.h"
#include "batch/sandbox/sandbox_probe.h"

/* The target is never a file here: bare digits are a process id. */
static struct xc_error *pid_of(const struct xc_job *job, int *pid_out)
{
	const char *target = xc_job_operand(job, "TARGET");
	const char *digits = target && xc_begins_with(target, "pid:") ? target + 4 : target;
	uint64_t pid = 0;
	if (target && (!xc_options_number(digits, INT32_MAX, &pid) || !pid))
		return xc_error_new(XC_ERR_USAGE, "'%s' is not a process: expected pid:N, or N", target);
	*pid_out = (int)pid;
	return NULL;
}

static struct xc_error *check(struct xc_job *job)
{
	int pid;
	return pid_of(job, &pid);
}

static const char *ci_of_environment(void)
{
	return getenv("GITHUB_ACTIONS") ? "github" : getenv("GITLAB_CI") ? "gitlab" : NULL;
}

/* Can `triage` read cores on this machine, and with which restrictions? A test worker is started, which reads
 * nothing. */
static void try_a_worker(struct xc_report *report)
{
	const struct xc_worker_options options = {.seconds = 1};
	struct xc_sandbox_probe probe;
	struct xc_section *s = xc_report_section(report, "workers", "Can triage read cores here?");
	xc_auto(xc_error_freep) struct xc_error *err = xc_sandbox_probe_run(&options, &probe);
	xc_auto(xc_freep) char *no = err ? xc_asprintf("no: %s", err->message) : NULL;
	xc_section_bool(s, "jail", "jail", !err)->quiet = true;
	xc_section_bool(s, "name_spaces", "name spaces", !err && probe.user >= 0)->quiet = true;
	if (err)
		xc_section_text(s, "workers", "workers", no);
	else
		xc_section_text(s, "workers", "workers",
				probe.user >= 0 ? "yes, in a sandbox, with their own user and network namespaces"
						: "yes, in a sandbox; user and network namespaces are not available "
						  "here");
	if (!err)
		xc_sandbox_probe_fini(&probe);
}

static struct xc_error *run(struct xc_job *job, FILE *out)
{
	int pid;
	struct xc_doctor_facts facts;
	struct xc_error *err = pid_of(job, &pid);
	(void)out;
	if (err || (err = xc_doctor_facts_read(job->common.sysroot, pid, &facts)))
		return err;
	job->report = xc_report_new("doctor");
	xc_doctor_report(job->report, &facts, ci_of_environment());
	xc_doctor_facts_fini(&facts);
	if (!job->common.sysroot && !pid)
		try_a_worker(job->report);
	return NULL;
}

static const struct xc_operand operands[] = {
	{.name = "TARGET",
	 .optional = true,
	 .complete = XC_COMPLETE_TARGET,
	 .about = "pid:N, or N: a running process; default: programs started from this shell"},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore doctor", "does a crash here leave a core, where, and with which contents"},
	{"xcore doctor pid:1234", "the same for a process with its own limits"},
	{"xcore doctor --format json | jq '.sections[0].fields.core'", "true or false, for scripts"},
	{.line = NULL},
};

const struct xc_command xc_command_doctor = {
	.name = "doctor",
	.about = "check whether a crash here leaves a core, and what to change so that it does",
	.text = "Explains where the kernel's core pattern leads, which limits, signal handlers, and settings of "
		"systemd and containers prevent a core, and what cores will lack. It ends with the commands that "
		"change this; it changes nothing itself. Without a target and --sysroot it also checks whether "
		"`triage` can sandbox its workers here.\n\nWith --sysroot the settings are read below that "
		"directory.",
	.operands = operands,
	.options = NULL,
	.examples = examples,
	.check = check,
	.run = run,
};
