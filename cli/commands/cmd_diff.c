/* diff: growth between two snapshots. */
#include "cli/command.h"

#include <string.h>
#include <time.h>

#include "core/facts/scrub_learn.h"
#include "core/live/live.h"
#include "core/report/report_diff.h"
#include "heap/report/census.h"
#include "heap/session/session.h"
#include "cli/shared/heaps.h"
#include "cli/shared/plugins.h"
#include "cli/target.h"

enum { DEFAULT_ROWS = 40 };

struct settings {
	unsigned limit, wait;
};

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *s = job->settings;
	const char *newer = xc_job_operand(job, "NEWER");
	if (s->wait && newer)
		return xc_error_new(XC_ERR_USAGE, "--wait samples one process twice: give no second target");
	if (!s->wait && !newer)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "NEWER is missing"),
				     "xcore diff OLD NEW, or xcore diff pid:N --wait SECONDS");
	return NULL;
}

/* One snapshot. */
struct snapshot {
	struct xc_census census;
	struct xc_report *report; /* of the plugins; NULL without them */
};

static struct xc_error *sample(struct xc_job *job, struct snapshot *snapshot)
{
	struct xc_report *shown = job->report;
	struct xc_error *err = xc_census_take(xc_job_heap(job), &snapshot->census);
	if (err || job->common.plugins == XC_OFF)
		return err;
	job->report = snapshot->report = xc_report_new("analyze");
	err = xc_plugins_analyze(job);
	job->report = shown;
	return err;
}

static void forget(struct snapshot *snapshot)
{
	xc_census_fini(&snapshot->census);
	xc_report_free(snapshot->report);
}

/* A second snapshot of the same process. */
static struct xc_error *sample_again(struct xc_job *job, struct snapshot *snapshot)
{
	const struct settings *s = job->settings;
	struct timespec left = {.tv_sec = s->wait};
	if (!job->process->live)
		return xc_error_new(XC_ERR_USAGE, "--wait needs a running process: %s is a core", job->process->target);
	while (nanosleep(&left, &left) != 0)
		;
	xc_live_refresh(job->process);
	return sample(job, snapshot);
}

static struct xc_error *sample_target(struct xc_job *job, const char *name, struct snapshot *snapshot)
{
	struct xc_target target = {.process = NULL};
	struct xc_process *first = job->process;
	struct xc_error *err = xc_target_open(&target, name, &job->common, NULL, NULL);
	if (err)
		return err; /* the message names the target */
	job->process = target.process;
	if (xc_job_redacts(job))
		xc_scrub_learn(job->scrub, target.process);
	err = sample(job, snapshot);
	job->process = first;
	xc_target_close(&target);
	return err ? xc_error_wrap(err, "%s", name) : NULL;
}

static void compare(struct xc_job *job, const struct snapshot *old, const struct snapshot *new)
{
	const struct settings *s = job->settings;
	size_t limit = s->limit ? s->limit : DEFAULT_ROWS;
	struct xc_section *section = xc_report_section(job->report, "diff", "What grew");
	xc_census_compare(section, &old->census, &new->census, limit);
	if (old->report && new->report)
		xc_report_compare(section, old->report, new->report, limit);
}

static struct xc_error *produce(struct xc_job *job)
{
	const char *newer = xc_job_operand(job, "NEWER");
	struct snapshot old = {.report = NULL}, new = {.report = NULL};
	struct xc_error *err = sample(job, &old);
	xc_heap_forget(job->process);
	if (!err)
		err = newer ? sample_target(job, newer, &new) : sample_again(job, &new);
	if (!err)
		compare(job, &old, &new);
	forget(&old);
	forget(&new);
	return err;
}

static const struct xc_operand operands[] = {
	XC_OPERAND_TARGET,
	{.name = "NEWER",
	 .optional = true,
	 .about = "the newer target: another core, or pid:N",
	 .complete = XC_COMPLETE_TARGET},
	{.name = NULL},
};

static const struct xc_option options[] = {
	{.name = "wait",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, wait),
	 .value = "SECONDS",
	 .about = "sample the same process again after this time",
	 .min = 1,
	 .max = 86400},
	{.name = "limit",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, limit),
	 .value = "N",
	 .about = "show at most N rows per table; default: 40",
	 .min = 1,
	 .max = 1000000},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore diff core.monday core.friday", "the types that a service has more of after four days"},
	{"xcore diff core.1234 pid:1234", "growth since the core of a process that still runs"},
	{"xcore diff pid:1234 --wait 60", "growth in one minute"},
	{.line = NULL},
};

const struct xc_command xc_command_diff = {
	.name = "diff",
	.about = "growth of the heap between two cores, or between two samples of a process",
	.text = "Lists types, modules (by the memory that their data keeps alive; also stacks, registers and "
		"leaks), holders (single globals and threads) and arenas by growth, largest first, and the figures "
		"of the plugins for the program: this finds slow leaks. For two snapshots of one process it also "
		"counts the new blocks; for two different processes only the difference in numbers.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.produce = produce,
};
