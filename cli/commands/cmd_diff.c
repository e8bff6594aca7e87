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
#include "profile/data/profile_file.h"
#include "profile/data/profile_scrub.h"
#include "profile/view/profile_diff.h"
#include "profile/export/profile_formats.h"

enum { DEFAULT_ROWS = 40 };

struct settings {
	unsigned limit, wait;
	const char *as, *widths;
};

/* ---- two profiles ---- */

static bool are_profiles(const struct xc_job *job)
{
	const char *newer = xc_job_operand(job, "NEWER");
	return xc_profile_file_is(xc_job_operand(job, "TARGET")) && newer && xc_profile_file_is(newer);
}

/* NULL: a report. */
static const char *kind_of(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	const bool by_name = job->common.output && !job->common.format && are_profiles(job);
	return s->as ? s->as : by_name ? xc_profile_diff_kind_of(job->common.output) : NULL;
}

static bool writes(const struct xc_job *job)
{
	return kind_of(job) != NULL;
}

/* A name that asks for a format of one profile would get a report. */
static struct xc_error *check_name(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	const char *output = job->common.output, *kind = output ? xc_profile_kind_of(output) : NULL;
	if (s->as || job->common.format || !kind || !are_profiles(job) || writes(job))
		return NULL;
	return xc_error_hint(xc_error_new(XC_ERR_USAGE, "%s: two profiles are not written as %s", output, kind),
			     "--as svg, html or folded; --format json");
}

static struct xc_error *check_profiles(struct xc_job *job)
{
	const struct settings *s = job->settings;
	const char *target = xc_job_operand(job, "TARGET"), *newer = xc_job_operand(job, "NEWER");
	if (newer && xc_profile_file_is(target) != xc_profile_file_is(newer))
		return xc_error_new(XC_ERR_USAGE, "only one of %s and %s is a profile", target, newer);
	if (s->as && !are_profiles(job))
		return xc_error_new(XC_ERR_USAGE, "--as is for two profiles (.xprof)");
	if (s->as && job->common.format)
		return xc_error_new(XC_ERR_USAGE, "--as %s and --format %s cannot be combined", s->as,
				    job->common.format);
	if (s->widths && (!writes(job) || strcmp(kind_of(job), "html") == 0))
		return xc_error_new(XC_ERR_USAGE, "--widths is for --as svg; the page of --as html draws both ways");
	struct xc_error *err = check_name(job);
	if (!err && are_profiles(job) && !writes(job))
		xc_job_format_by_name(job);
	return err;
}

static struct xc_error *show_profiles(struct xc_job *job, struct xc_profile_pair *pair, FILE *out)
{
	const struct settings *s = job->settings;
	if (writes(job)) {
		xc_profile_scrub(pair->data);
		return xc_profile_diff_write(pair, kind_of(job), s->widths && strcmp(s->widths, "before") == 0, out);
	}
	job->report = xc_report_new(job->command->name);
	struct xc_section *target = xc_report_target(job->report);
	target->headline = xc_arena_printf(&job->report->arena, "%s → %s: %s", xc_job_operand(job, "TARGET"),
					   xc_job_operand(job, "NEWER"),
					   xc_profile_data_text(pair->data, pair->data->head->title));
	target->brief = true;
	xc_profile_diff(job->report, pair, s->limit ? s->limit : DEFAULT_ROWS);
	return NULL;
}

/* What the samples of a profile count. */
static const char *counted(const struct xc_profile_data *d)
{
	const char *events = xc_profile_data_text(d, d->head->events);
	if (d->head->unit != XC_PROFILE_NS)
		return events ? events : "events";
	return !d->head->waits ? "CPU time" : d->head->runs ? "CPU and waiting time" : "waiting time";
}

static struct xc_error *check_counted(const struct xc_job *job, const struct xc_profile_data *earlier,
				      const struct xc_profile_data *later)
{
	if (earlier->head->unit == later->head->unit && strcmp(counted(earlier), counted(later)) == 0)
		return NULL;
	return xc_error_hint(xc_error_new(XC_ERR_MISMATCH, "%s counts %s, and %s %s", xc_job_operand(job, "TARGET"),
					  counted(earlier), xc_job_operand(job, "NEWER"), counted(later)),
			     "`xcore profile` with the same --clock, or --event, gives profiles to compare");
}

static struct xc_error *run(struct xc_job *job, FILE *out)
{
	struct xc_profile_data *earlier = NULL, *later = NULL;
	struct xc_error *err = xc_profile_file_read(xc_job_operand(job, "TARGET"), &earlier);
	if (!err)
		err = xc_profile_file_read(xc_job_operand(job, "NEWER"), &later);
	if (!err)
		err = check_counted(job, earlier, later);
	if (!err) {
		struct xc_profile_pair pair;
		xc_profile_pair_init(&pair, earlier, later);
		err = show_profiles(job, &pair, out);
		xc_profile_pair_fini(&pair);
	}
	xc_profile_data_free(earlier);
	xc_profile_data_free(later);
	return err;
}

/* ---- two snapshots ---- */

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *s = job->settings;
	const char *newer = xc_job_operand(job, "NEWER");
	struct xc_error *err = check_profiles(job);
	if (err)
		return err;
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

static const char *const sides[] = {"after", "before", NULL};

static const struct xc_operand operands[] = {
	{.name = "TARGET",
	 .about = "the older one: a core file, pid:N for a running process, or a profile (.xprof)",
	 .complete = XC_COMPLETE_TARGET},
	{.name = "NEWER",
	 .optional = true,
	 .about = "the newer one: another core, pid:N, or a profile",
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
	{.name = "as",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, as),
	 .value = "KIND",
	 .about =
		 "two profiles: svg (a flame graph, red where the share grew, blue where it shrank), html (a page with "
		 "that and more, drawn both ways), folded (lines with both weights, for other tools); default: by the "
		 "end of the -o file, else a report",
	 .words = xc_profile_diff_kinds},
	{.name = "widths",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, widths),
	 .value = "SIDE",
	 .about = "--as svg: widths are the weights after (default), or before (shows what disappeared)",
	 .words = sides},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore diff core.monday core.friday", "the types that grew in a service over four days"},
	{"xcore diff core.1234 pid:1234", "growth since the core of a process that still runs"},
	{"xcore diff pid:1234 --wait 60", "growth in one minute"},
	{"xcore diff monday.xprof friday.xprof", "functions whose share of the time changed"},
	{"xcore diff monday.xprof friday.xprof -o diff.html", "the same as a page with flame graphs"},
	{.line = NULL},
};

const struct xc_command xc_command_diff = {
	.name = "diff",
	.about = "growth of the heap between two cores or looks at a process; changes between profiles",
	.text = "Lists types, modules (by the memory that their data keeps alive; also stacks, registers and "
		"leaks), holders (single globals and threads) and arenas by growth, largest first, and the figures "
		"of the plugins for the program: this finds slow leaks. For two snapshots of one process it also "
		"counts the new blocks; for two different processes only the difference in numbers.\n\n"
		"Of two profiles (`xcore profile pid:N -o x.xprof`) it lists functions by the change of their own "
		"share "
		"of the samples, and tells which changes may be chance.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.produce = produce,
	.writes = writes,
	.alone = are_profiles,
	.run = run,
};
