/* diff: what grew between two moments. */
#include "cli/command.h"

#include <string.h>
#include <time.h>

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
		return xc_error_new(XC_ERR_USAGE, "--wait looks twice at one process: give no second target");
	if (!s->wait && !newer)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "NEWER is missing"),
				     "xcore diff OLD NEW, or xcore diff pid:N --wait SECONDS");
	return NULL;
}

/* What is known of one moment. */
struct moment {
	struct xc_census census;
	struct xc_report *report; /* of the plugins; NULL without them */
};

static struct xc_error *look(struct xc_job *job, struct moment *moment)
{
	struct xc_report *shown = job->report;
	struct xc_error *err = xc_census_take(xc_job_heap(job), &moment->census);
	if (err || job->common.plugins == XC_OFF)
		return err;
	job->report = moment->report = xc_report_new("analyze");
	err = xc_plugins_analyze(job);
	job->report = shown;
	return err;
}

static void forget(struct moment *moment)
{
	xc_census_fini(&moment->census);
	xc_report_free(moment->report);
}

/* A second moment of the same process. */
static struct xc_error *look_again(struct xc_job *job, struct moment *moment)
{
	const struct settings *s = job->settings;
	struct timespec left = {.tv_sec = s->wait};
	if (!job->process->live)
		return xc_error_new(XC_ERR_USAGE, "--wait: %s is a core, which does not change", job->process->target);
	while (nanosleep(&left, &left) != 0)
		;
	xc_live_refresh(job->process);
	return look(job, moment);
}

static struct xc_error *look_at(struct xc_job *job, const char *name, struct moment *moment)
{
	struct xc_target target = {.process = NULL};
	struct xc_process *first = job->process;
	struct xc_error *err = xc_target_open(&target, name, &job->common, NULL);
	if (err)
		return err; /* it names the target */
	job->process = target.process;
	err = look(job, moment);
	job->process = first;
	xc_target_close(&target);
	return err ? xc_error_wrap(err, "%s", name) : NULL;
}

static void compare(struct xc_job *job, const struct moment *old, const struct moment *new)
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
	struct moment old = {.report = NULL}, new = {.report = NULL};
	struct xc_error *err = look(job, &old);
	xc_heap_forget(job->process);
	if (!err)
		err = newer ? look_at(job, newer, &new) : look_again(job, &new);
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
	 .about = "the later moment: another core, or pid:N",
	 .complete = XC_COMPLETE_TARGET},
	{.name = NULL},
};

static const struct xc_option options[] = {
	{.name = "wait",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, wait),
	 .value = "SECONDS",
	 .about = "look at the same process again after so long",
	 .min = 1,
	 .max = 86400},
	{.name = "limit",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, limit),
	 .value = "N",
	 .about = "at most N rows a table; 40 by default",
	 .min = 1,
	 .max = 1000000},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore diff core.monday core.friday", "which types a service has more of than four days ago"},
	{"xcore diff core.1234 pid:1234", "since that core was taken of a process that still runs"},
	{"xcore diff pid:1234 --wait 60", "what a minute adds"},
	{.line = NULL},
};

const struct xc_command xc_command_diff = {
	.name = "diff",
	.about = "what grew in the heap between two cores, or two looks at a process",
	.text = "Types, modules (whose data keeps memory alive; also stacks, registers, and what leaked), holders "
		"(single "
		"globals and threads) and arenas by how much they grew, most first, and the numbers of plugins that "
		"are for the program: the way to find a slow leak. Of two "
		"moments of one process it also tells which blocks are new; "
		"of two "
		"runs only how many more there are.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.produce = produce,
};
