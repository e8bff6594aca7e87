/* doctor: would a crash leave a core, and what to change. */
#include "cli/command.h"

#include <stdlib.h>

#include "batch/doctor/doctor.h"
#include "batch/sandbox/sandbox_probe.h"

/* No file is looked into here: bare digits are a process whatever else has that name. */
static struct xc_error *pid_of(const struct xc_job *job, int *pid_out)
{
	const char *target = xc_job_operand(job, "TARGET");
	const char *digits = target && xc_begins_with(target, "pid:") ? target + 4 : target;
	uint64_t pid = 0;
	if (target && (!xc_options_number(digits, INT32_MAX, &pid) || !pid))
		return xc_error_new(XC_ERR_USAGE, "'%s' is no process: pid:N, or N", target);
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

/* Whether `triage` can read cores on this machine, and behind which fences: a worker goes there and reads nothing. */
static void try_a_worker(struct xc_report *report)
{
	const struct xc_worker_options options = {.seconds = 1};
	struct xc_sandbox_probe probe;
	struct xc_section *s = xc_report_section(report, "workers", "Can triage examine cores here?");
	xc_auto(xc_error_freep) struct xc_error *err = xc_sandbox_probe_run(&options, &probe);
	xc_auto(xc_freep) char *no = err ? xc_asprintf("no: %s", err->message) : NULL;
	xc_section_bool(s, "jail", "jail", !err)->quiet = true;
	xc_section_bool(s, "name_spaces", "name spaces", !err && probe.user >= 0)->quiet = true;
	if (err)
		xc_section_text(s, "workers", "workers", no);
	else
		xc_section_text(s, "workers", "workers",
				probe.user >= 0
					? "yes, in a sandbox with its own user and network name spaces"
					: "yes, in a sandbox; user and network name spaces are not available here");
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
	 .about = "pid:N, or N: of a process that runs; else of what is started from this shell"},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore doctor", "would a program that crashes here leave a core, where, and what is in it"},
	{"xcore doctor pid:1234", "the same of a process with its own limits"},
	{"xcore doctor --format json | jq '.sections[0].fields.core'", "true or false, for scripts"},
	{.line = NULL},
};

const struct xc_command xc_command_doctor = {
	.name = "doctor",
	.about = "would a crash leave a core here, and what to change so that it does",
	.text = "Tells where the kernel's pattern leads in words, which limits, handlers, settings of systemd and "
		"containers are in "
		"the way, and what cores will lack; and ends with the commands to change that. Nothing is changed. "
		"Without a target and --sysroot it also says whether `triage` can shut its workers in here.\n\n"
		"With --sysroot the settings are read below that directory.",
	.operands = operands,
	.options = NULL,
	.examples = examples,
	.check = check,
	.run = run,
};
