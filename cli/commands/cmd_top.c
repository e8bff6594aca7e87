/* top: where a running process spends its time now, on a terminal. */
#include "cli/command.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/interrupts.h"
#include "cli/shared/guests.h"
#include "core/base/say.h"
#include "core/render/render.h"
#include "profile/data/profile_scrub.h"
#include "profile/profile_finish.h"
#include "profile/view/profile_report.h"

enum { HZ = 99, ROWS = 10, LEAST_ROWS = 3, FRAME_LINES = 12, KEYS_NS = 100000000, SECOND_NS = 1000000000 };

struct settings {
	unsigned count, hz;
	struct xc_profile *profile;
	struct xc_guests guests;
};

/* ---- the terminal ---- */

struct terminal {
	bool is_one; /* standard output is one, and is drawn on */
	bool has_keys;
	struct termios before;
	bool paused, quit;
};

/* Keys come at once, and are not shown. */
static void begin_terminal(struct terminal *t, const struct xc_output *output)
{
	t->is_one = xc_output_is_terminal(output);
	t->has_keys = t->is_one && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
		      tcgetattr(STDIN_FILENO, &t->before) == 0;
	if (!t->has_keys)
		return;
	struct termios raw = t->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void end_terminal(const struct terminal *t)
{
	if (t->has_keys)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &t->before);
}

static void read_keys(struct terminal *t)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char key;
	while (t->has_keys && poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1) {
		t->quit |= key == 'q';
		t->paused ^= key == 'p';
	}
}

static struct winsize size_of(const struct terminal *t, const struct xc_output *output)
{
	struct winsize size = {.ws_col = 0};
	if (!t->is_one || ioctl(output->fd, TIOCGWINSZ, &size))
		size = (struct winsize){.ws_col = 0};
	return size;
}

/* ---- a lap ---- */

static size_t rows_for(const struct winsize *size)
{
	const size_t both = size->ws_row > FRAME_LINES ? (size->ws_row - FRAME_LINES) / 2u : 0;
	return !size->ws_row ? ROWS : both > LEAST_ROWS ? both : LEAST_ROWS;
}

static void add_line(struct xc_report *report, const struct xc_profile *p, const struct xc_profile_data *d,
		     const struct terminal *t)
{
	const double seconds = (double)d->head->length_ns / 1e9;
	const char *way = !p->sampler  ? "; no perf events: running threads have no stack"
			  : p->blocked ? "; not in the kernel"
				       : "";
	struct xc_section *s = xc_report_section(report, "now", "Now");
	xc_auto(xc_freep) char *cpus =
		p->times_known && seconds > 0
			? xc_asprintf("%.2f CPUs in use; ", (double)(p->user_ns + p->system_ns) / 1e9 / seconds)
			: NULL;
	xc_auto(xc_freep) char *text = xc_asprintf("%s%llu samples in %.1f s%s%s", cpus ? cpus : "",
						   (unsigned long long)xc_profile_data_samples(d), seconds, way,
						   t->has_keys ? "; q: quit, p: pause" : "");
	xc_section_text(s, "now", "now", text);
	if (!xc_profile_data_samples(d))
		xc_section_message(s, XC_INFO, NULL,
				   "no thread ran or began to wait in this time; `xcore bt pid:%d` shows where they "
				   "sleep",
				   (int)p->process->pid);
}

static struct xc_error *show(struct xc_job *job, const struct terminal *t, struct xc_profile_data *d, FILE *out)
{
	const struct settings *s = job->settings;
	const struct winsize size = size_of(t, job->output);
	const struct xc_render_options options = {
		.color = job->output->colored, .width = size.ws_col, .redact = xc_job_redacts(job)};
	struct xc_report *report = xc_report_new(job->command->name);
	xc_profile_scrub(d);
	xc_profile_report_target(report, d);
	add_line(report, s->profile, d, t);
	if (xc_profile_data_samples(d))
		xc_profile_report_hottest(report, d, rows_for(&size));
	if (t->is_one)
		xc_output_clear(job->output);
	struct xc_error *err = xc_render_text(report, &options, out);
	if (!err && fflush(out))
		err = xc_output_error(job->output);
	xc_report_free(report);
	return err;
}

/* Keys are read meanwhile. */
static void sample(struct settings *s, struct terminal *t, uint64_t until)
{
	for (uint64_t now; (now = xc_now_ns()) < until && !xc_interrupted_by && !s->profile->gone && !t->quit;) {
		xc_profile_sample(s->profile, now + KEYS_NS < until ? now + KEYS_NS : until, &xc_interrupted_by);
		read_keys(t);
	}
}

/* A part of a second, after q or ^C, does not take the place of a whole one. */
static bool shows_lap(const struct terminal *t, bool first, bool cut)
{
	return !t->paused && (!t->is_one || first || !cut);
}

static struct xc_error *laps(struct xc_job *job, struct terminal *t, FILE *out)
{
	struct settings *s = job->settings;
	struct xc_error *err = NULL;
	uint64_t due = xc_now_ns();
	for (unsigned i = 0; (!s->count || i < s->count) && !err && !xc_interrupted_by && !t->quit; i++) {
		due += SECOND_NS;
		sample(s, t, due);
		struct xc_profile_data *data = xc_profile_lap(s->profile);
		if (shows_lap(t, !i, xc_now_ns() < due))
			err = show(job, t, data, out);
		xc_profile_data_free(data);
		if (s->profile->gone) {
			xc_say("%s: the process has ended, or executes another program", job->process->target);
			break;
		}
	}
	return err;
}

/* ---- the command ---- */

static struct xc_error *check(struct xc_job *job)
{
	struct settings *s = job->settings;
	s->hz = s->hz ? s->hz : HZ;
	return job->common.format ? xc_error_hint(xc_error_new(XC_ERR_USAGE, "top is for people: it has no --format"),
						  "`xcore profile` has")
				  : NULL;
}

static struct xc_error *opened(struct xc_job *job)
{
	struct settings *s = job->settings;
	const struct xc_profile_options options = {.sampler = {.hz = s->hz}, .clock = XC_CLOCK_WALL};
	struct xc_error *err = xc_profile_start(job->process, &options, &s->profile);
	return err ? xc_error_wrap(err, "%s", job->process->target) : NULL;
}

static bool writes(const struct xc_job *job)
{
	(void)job;
	return true;
}

static struct xc_error *write_laps(struct xc_job *job, FILE *out)
{
	struct settings *s = job->settings;
	struct terminal terminal = {0};
	if (!s->profile)
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "%s: a core is one moment, and cannot be sampled",
						  job->process->target),
				     "`xcore threads` shows what its threads do");
	struct xc_error *err = xc_guests_open(&s->guests, job, NULL);
	if (err)
		return err;
	struct xc_sample_guest *guest = xc_guests_reader(&s->guests);
	if (guest)
		xc_profile_guests(s->profile, guest);
	xc_interrupts_catch();
	begin_terminal(&terminal, job->output);
	err = laps(job, &terminal, out);
	end_terminal(&terminal);
	xc_interrupts_release();
	return err;
}

static void fini(void *settings)
{
	struct settings *s = settings;
	xc_profile_free(s->profile);
	xc_guests_fini(&s->guests);
}

static const struct xc_operand operands[] = {
	{.name = "TARGET", .about = "pid:N, a running process", .complete = XC_COMPLETE_TARGET},
	{.name = NULL},
};

static const struct xc_option options[] = {
	XC_NUMBER_OPTION(count, 1, 1000000, "so many seconds, then end; default: until q or ^C, or the process ends"),
	XC_NUMBER_OPTION(hz, 1, 10000, "samples per second of CPU time, and of waiting, of each thread; default: 99"),
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore top pid:1234", "the hottest functions and waits of each second"},
	{"xcore top pid:1234 --count 1", "of the next second"},
	{.line = NULL},
};

const struct xc_command xc_command_top = {
	.name = "top",
	.about = "the hottest functions and waits of a running process, each second",
	.text = "Samples as `xcore profile --clock wall` does, and shows each second what it counted: on a terminal in "
		"place, else one after the other. Keys: q quits, p pauses. Threads that have slept since before the "
		"start are not shown.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.opened = opened,
	.writes = writes,
	.write = write_laps,
	.fini = fini,
	.acts = true,
};
