/* profile: where a running process spends its CPU time. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/interrupts.h"
#include "cli/shared/guests.h"
#include "cli/shared/profile_many.h"
#include "core/base/say.h"
#include "core/base/shared_status.h"
#include "core/report/stacktree.h"
#include "profile/data/profile_file.h"
#include "profile/data/profile_scrub.h"
#include "profile/profile_finish.h"
#include "profile/view/profile_by.h"
#include "profile/export/profile_formats.h"
#include "profile/view/profile_report.h"
#include "profile/view/profile_tree.h"

enum { SECONDS = 10, HZ = 99, MOST_HZ = 10000, MOST_SECONDS = 24 * 3600, LEAST_NS = 1000000 };

struct settings {
	const char *as, *duration, *clock, *event, *by;
	unsigned hz, thread, top;
	enum xc_switch no_kernel, lua_only, c_only, children;
	uint64_t duration_ns;
	struct xc_profile *profile;
	struct xc_profile_data *data;
	struct xc_guests guests;
};

/* NULL: a report. */
static const char *kind_of(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	return s->as ? s->as : job->common.output ? xc_profile_kind_of(job->common.output) : NULL;
}

/* A profile that was taken before is a file. */
static bool is_file(const struct xc_job *job)
{
	return xc_profile_file_is(xc_job_operand(job, "TARGET"));
}

/* Several processes, each sampled by an xcore of its own? */
static bool is_many(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	return job->operands.count > 1 || s->children == XC_ON;
}

/* Nothing to open here. */
static bool is_alone(const struct xc_job *job)
{
	return is_many(job) || is_file(job);
}

static bool writes(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	return s->as != NULL || (!job->common.format && kind_of(job));
}

/* "10s", "500ms", "2m", "1h"; a bare number means seconds. */
static bool parse_duration(const char *text, uint64_t *ns_out)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"", 1000000000}, {"s", 1000000000}, {"ms", 1000000}, {"m", 60000000000}, {"h", 3600000000000}};
	char *end;
	const double number = strtod(text, &end);
	for (size_t i = 0; i < XC_COUNT(units); i++)
		if (strcmp(end, units[i].unit) == 0 && end != text && number * (double)units[i].ns >= LEAST_NS &&
		    number * (double)units[i].ns <= MOST_SECONDS * 1e9) {
			*ns_out = (uint64_t)(number * (double)units[i].ns);
			return true;
		}
	return false;
}

static const char *const clocks[] = {"cpu", "off", "wall", NULL}; /* enum xc_profile_clock */

static enum xc_profile_clock clock_of(const struct settings *s)
{
	enum xc_profile_clock clock = XC_CLOCK_CPU;
	while (s->clock && clocks[clock] && strcmp(clocks[clock], s->clock) != 0)
		clock++;
	return clock;
}

/* The name of a dimension of a plugin? "nginx.location" */
static bool is_of_plugin(const char *by)
{
	return by && strchr(by, '.');
}

static bool is_builtin(const char *by)
{
	return strcmp(by, "thread") == 0 || strcmp(by, "process") == 0 || strcmp(by, "cpu") == 0;
}

static struct xc_error *check_sampling(const struct xc_job *job)
{
	struct settings *s = job->settings;
	s->hz = s->hz ? s->hz : HZ;
	s->duration_ns = SECONDS * UINT64_C(1000000000);
	if (s->duration && !parse_duration(s->duration, &s->duration_ns))
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "--for: '%s' is not a time", s->duration),
				     "a number with ms, s, m or h, from 1ms to 24h: 500ms, 10s, 2m");
	if (s->lua_only == XC_ON && (s->c_only == XC_ON || job->common.plugins == XC_OFF))
		return xc_error_new(XC_ERR_USAGE, "--lua-only and %s cannot be combined",
				    s->c_only == XC_ON ? "--c-only" : "--no-plugins");
	if (is_of_plugin(s->by) && (s->c_only == XC_ON || job->common.plugins == XC_OFF))
		return xc_error_new(XC_ERR_USAGE, "--by %s and %s cannot be combined", s->by,
				    s->c_only == XC_ON ? "--c-only" : "--no-plugins");
	if (s->by && !is_of_plugin(s->by) && !is_builtin(s->by))
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "--by: there is no dimension '%s'", s->by),
				     "thread, process, cpu, or one of a plugin: nginx.location, nginx.host");
	if (is_many(job) && s->thread)
		return xc_error_new(XC_ERR_USAGE, "--thread is for one process");
	if (s->event && s->clock)
		return xc_error_new(XC_ERR_USAGE, "--event and --clock cannot be combined: events are not time");
	return NULL;
}

/* Options that say how to sample mean nothing for a profile that was taken. */
static struct xc_error *check_file(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	const char *given = s->duration ? "for" : s->clock ? "clock" : s->hz ? "hz" : s->thread ? "thread" : NULL;
	given = s->no_kernel == XC_ON ? "no-kernel" : s->event ? "event" : given;
	given = s->lua_only == XC_ON ? "lua-only" : s->c_only == XC_ON ? "c-only" : given;
	given = s->children == XC_ON ? "children" : given;
	return given ? xc_error_new(XC_ERR_USAGE, "--%s is for sampling a process: %s is a profile that was taken",
				    given, xc_job_operand(job, "TARGET"))
		     : NULL;
}

static struct xc_error *check(struct xc_job *job)
{
	const struct settings *s = job->settings;
	if (s->as && job->common.format)
		return xc_error_new(XC_ERR_USAGE, "--as %s and --format %s cannot be combined", s->as,
				    job->common.format);
	if (!writes(job))
		xc_job_format_by_name(job);
	return is_file(job) && job->operands.count == 1 ? check_file(job) : check_sampling(job);
}

static struct xc_error *opened(struct xc_job *job)
{
	struct settings *s = job->settings;
	const struct xc_profile_options options = {
		.sampler = {.hz = s->hz, .no_kernel = s->no_kernel == XC_ON, .counter = xc_perf_counter_find(s->event)},
		.clock = clock_of(s),
		.any_clock = !s->clock,
		.tid = (pid_t)s->thread,
		.guests_only = s->lua_only == XC_ON,
		.by = s->by,
	};
	if (s->thread && !xc_process_thread(job->process, (pid_t)s->thread))
		return xc_error_hint(
			xc_error_new(XC_ERR_NOT_FOUND, "%s has no thread %u", job->process->target, s->thread),
			"`xcore threads %s` lists them", job->process->target);
	struct xc_error *err = xc_profile_start(job->process, &options, &s->profile);
	return err ? xc_error_wrap(err, "%s", job->process->target) : NULL;
}

/* By the dimension that is asked for. A file of all keeps the stacks as they are, beside the values. */
static struct xc_error *tell_apart(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	struct xc_error *err = s->by ? xc_profile_by(s->data, s->by) : NULL;
	if (!err && s->by && !(writes(job) && strcmp(kind_of(job), "xprof") == 0))
		xc_profile_root(s->data);
	return err;
}

static void begin_sampling(void)
{
	xc_interrupts_catch();
	atomic_store(&xc_shared_status()->saves_on_signal, true); /* what was sampled is unwound and named first */
}

/* A signal ends the sampling, not the command. */
static void end_sampling(void)
{
	xc_interrupts_release();
	xc_interrupted_by = 0;
}

/* Sample; then name all places. */
static struct xc_error *sample(struct xc_job *job)
{
	struct settings *s = job->settings;
	if (!s->profile)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "%s: a core is one moment, and cannot be sampled",
						  job->process->target),
				     "`xcore bt` and `xcore flame stacks` show its stacks");
	struct xc_error *err = NULL;
	if (s->c_only != XC_ON && (err = xc_guests_open(&s->guests, job, is_of_plugin(s->by) ? s->by : NULL)))
		return err;
	struct xc_sample_guest *guest = xc_guests_reader(&s->guests);
	if (guest)
		xc_profile_guests(s->profile, guest);
	begin_sampling();
	xc_profile_run(s->profile, s->duration_ns, &xc_interrupted_by);
	end_sampling();
	s->data = xc_profile_finish(s->profile);
	return tell_apart(job);
}

static void report(struct xc_job *job)
{
	const struct settings *s = job->settings;
	job->tree = xc_alloc(sizeof *job->tree);
	xc_profile_tree(job->tree, s->data);
	xc_profile_report(job->report, s->data, job->tree, s->top);
	if (job->common.format && strcmp(job->common.format, "html") == 0 && job->tree->node_count)
		xc_section_tree(xc_report_section(job->report, "flame", "Flame graph"), "flame", job->tree);
}

/* The account in a line, and its warnings: what is written elsewhere does not show them. */
static void say_account(const struct xc_job *job, const struct xc_profile_data *d)
{
	const char *target = xc_job_operand(job, "TARGET"), *account = xc_profile_data_text(d, d->head->account);
	xc_say("%s: %s", target, account ? account : "a profile without an account");
	for (size_t i = 0; i < d->account.count; i++) {
		const struct xc_profile_fact *fact = &d->account.rows[i];
		const char *text = xc_profile_data_text(d, fact->text), *hint = xc_profile_data_text(d, fact->hint);
		if (fact->note >= XC_WARNING + 1 && text)
			xc_say("%s: warning: %s%s%s", target, text, hint ? "; " : "", hint ? hint : "");
	}
}

static struct xc_error *write_data(struct xc_job *job, FILE *out)
{
	const struct settings *s = job->settings;
	if (job->common.quiet != XC_ON)
		say_account(job, s->data);
	xc_profile_scrub(s->data);
	return xc_profile_write(s->data, kind_of(job), out);
}

static struct xc_error *produce(struct xc_job *job)
{
	const struct settings *s = job->settings;
	struct xc_error *err = sample(job);
	if (err)
		return err;
	report(job);
	xc_guests_note(&s->guests, job->report->sections);
	return NULL;
}

static struct xc_error *write_profile(struct xc_job *job, FILE *out)
{
	const struct settings *s = job->settings;
	struct xc_error *err = sample(job);
	if (err)
		return err;
	xc_guests_note(&s->guests, NULL);
	return write_data(job, out);
}

/* The options that each xcore gets. */
static void list_given(const struct xc_job *job, struct xc_arena *arena, struct xc_words *words)
{
	static const char *const names[] = {"hz",         "clock",    "event",       "no-kernel",     "lua-only",
					    "c-only",     "exe",      "sysroot",     "debug-dir",     "store",
					    "debuginfod", "no-cache", "plugin-path", "no-plugins",    "redact",
					    "no-redact",  "swap",     "io-timeout",  "max-read-rate", "max-read-time"};
	const struct xc_common usual = xc_common_defaults();
	const struct xc_option_set common = {xc_common_options, (void *)(uintptr_t)&job->common};
	const struct xc_option_set own = {job->command->options, job->settings};
	const struct settings *s = job->settings;
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		xc_options_given(&common, &usual, names[i], arena, words);
		xc_options_given(&own, NULL, names[i], arena, words);
	}
	if (s->by && (is_of_plugin(s->by) || strcmp(s->by, "cpu") == 0))
		xc_options_given(&own, NULL, "by", arena, words);
}

static struct xc_error *sample_many(struct xc_job *job)
{
	struct settings *s = job->settings;
	struct xc_arena arena = {0};
	struct xc_words given = {0};
	list_given(job, &arena, &given);
	const struct xc_many_options options = {.targets = &job->operands,
						.children = s->children == XC_ON,
						.ns = s->duration_ns,
						.given = &given,
						.interrupted = &xc_interrupted_by};
	begin_sampling();
	struct xc_error *err = xc_profile_many(&options, &s->data);
	end_sampling();
	xc_words_fini(&given);
	xc_arena_fini(&arena);
	return err;
}

/* A profile that was taken before, or of several processes. */
static struct xc_error *run(struct xc_job *job, FILE *out)
{
	struct settings *s = job->settings;
	struct xc_error *err =
		is_many(job) ? sample_many(job) : xc_profile_file_read(xc_job_operand(job, "TARGET"), &s->data);
	if (err || (err = tell_apart(job)))
		return err;
	if (writes(job))
		return write_data(job, out);
	job->report = xc_report_new(job->command->name);
	xc_profile_report_target(job->report, s->data);
	report(job);
	return NULL;
}

static bool is_binary(const struct xc_job *job)
{
	return xc_profile_is_binary(kind_of(job));
}

static void fini(void *settings)
{
	struct settings *s = settings;
	xc_profile_free(s->profile);
	xc_profile_data_free(s->data);
	xc_guests_fini(&s->guests);
}

static const struct xc_operand operands[] = {
	{.name = "TARGET",
	 .about = "pid:N, a running process, or several; or a profile that was taken (.xprof)",
	 .many = true,
	 .complete = XC_COMPLETE_TARGET},
	{.name = NULL},
};

static const struct xc_option options[] = {
	{.name = "for",
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, duration),
	 .value = "TIME",
	 .about =
		 "how long to sample: 500ms, 10s, 2m, 1h; default: 10s; ^C ends it early and shows the samples so far"},
	{.name = "clock",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, clock),
	 .value = "CLOCK",
	 .about = "cpu (where CPU time is spent), off (what threads wait for, and where), wall (both); default: "
		  "cpu, and wall where perf events are refused",
	 .words = clocks},
	{.name = "event",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, event),
	 .value = "EVENT",
	 .about = "instead of time, where threads cause these: page-faults, context-switches, cycles, …",
	 .words = xc_perf_counter_names},
	XC_NUMBER_OPTION(hz, 1, MOST_HZ, "samples per second of CPU time, and of waiting, of each thread; default: 99"),
	{.name = "by",
	 .kind = XC_OPTION_TEXT,
	 .offset = offsetof(struct settings, by),
	 .value = "DIMENSION",
	 .about = "split by thread, process, cpu, or a dimension of a plugin: nginx.location, nginx.host; "
		  "a table of its values, which are the roots of all stacks; .xprof files keep them"},
	{.name = "as",
	 .kind = XC_OPTION_CHOICE,
	 .offset = offsetof(struct settings, as),
	 .value = "KIND",
	 .about = "xprof (all of it, to look at again), folded (one line per stack), svg (one self-contained picture), "
		  "html (a page to look around in: flame graph and its inversion, threads over time, search, lines), "
		  "speedscope, pprof or firefox (for those viewers); default: by the end of the -o file (.xprof, .svg, "
		  ".html, .speedscope.json, .firefox.json, .pb.gz, .pprof), else a report",
	 .words = xc_profile_kinds},
	{.name = "thread",
	 .kind = XC_OPTION_NUMBER,
	 .offset = offsetof(struct settings, thread),
	 .value = "TID",
	 .about = "this thread only",
	 .min = 1,
	 .max = INT32_MAX},
	XC_NUMBER_OPTION(top, 1, 100000, "rows of each table; default: 20, of stacks 10"),
	XC_ON_OPTION("children", children,
		     "also processes that these fork; processes that run for less than some hundredths of a second are "
		     "missed"),
	XC_ON_OPTION("lua-only", lua_only,
		     "only functions of interpreted languages (Lua, Python): native code counts for them"),
	XC_ON_OPTION("c-only", c_only, "only native functions, as without plugins"),
	XC_ON_OPTION("no-kernel", no_kernel, "do not sample while a thread is in the kernel; waits are looked at"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore profile pid:1234", "ten seconds: the hottest functions, stacks and threads"},
	{"xcore profile pid:1234 --for 1m -o cpu.svg", "a flame graph, to open in a browser"},
	{"xcore profile pid:1234 --for 1m -o monday.xprof", "keep all of it"},
	{"xcore profile pid:1234 pid:1240 --children --by process", "several processes, and what they fork"},
	{"xcore profile monday.xprof", "look at it again, anywhere; also with --as and --format"},
	{"xcore profile pid:1234 --hz 999 --for 5s --as folded", "folded lines, for other tools"},
	{"xcore profile pid:1234 --by nginx.location -o busy.svg",
	 "which location the CPU time of an nginx worker is for"},
	{.line = NULL},
};

const struct xc_command xc_command_profile = {
	.name = "profile",
	.about = "where a running process spends its time, on a CPU and waiting",
	.text = "The kernel samples the threads by their CPU time, or as they begin to wait (perf events), and copies "
		"registers and a part of the "
		"stack; the target is not stopped, traced or changed, and each sample costs it some microseconds. "
		"Stacks are unwound as the samples come, and only their different frames are kept.\n\n"
		"Where the kernel does not show itself (perf_event_paranoid 2), waits of 2 ms and more are looked at "
		"while they go on, and shorter ones are only counted. Where it refuses perf events, threads are looked "
		"at through /proc: waiting threads have a stack, running threads have none.\n\n"
		"Lua and Python functions are among the native ones (LuaJIT, PUC Lua, CPython; --no-plugins leaves "
		"them out), and code that a program compiles has the names of its /tmp/perf-PID.map or jit-PID.dump "
		"as they are at the end: where code was replaced meanwhile, older samples have the newer name. Stacks "
		"of languages are "
		"read just after each sample: where they have changed meanwhile, the unknown part is shown as [torn]. "
		"To keep such stacks few, xcore takes short turns of the processor for that, and real time where it "
		"may (root, CAP_SYS_NICE or RLIMIT_RTPRIO; not under nice): each sample delays other work by some "
		"100 us, and real time ends when samples come faster than they are read.\n\n"
		"Several processes are sampled side by side, each by an xcore of its own, and shown as one.\n\n"
		"The first lines account for what was sampled and what was not: samples lost, stacks cut, time in the "
		"kernel that this user may not see.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.opened = opened,
	.produce = produce,
	.writes = writes,
	.write = write_profile,
	.alone = is_alone,
	.run = run,
	.is_binary = is_binary,
	.fini = fini,
	.acts = true,
};
