/* runner: the parent: forks, reads while the child runs (a pipe holds little), waits, and maps the child's end to an
 * error.
 *
 * It sends no signal: the sandbox of calls denies that. A child whose output is no longer read dies of SIGPIPE at
 * its next line, of its timer, or with the parent. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/facts/facts.h"
#include "core/live/live.h"
#include "core/report/report_wire.h"
#include "lua/runner/runner_impl.h"

static const char SECTION_OF_FLAMES[] = "flame";

/* ---- the report ---- */

/* The start of the run's own sections. */
static struct xc_section **sections_end(const struct xc_run *run)
{
	return run->report->sections_end;
}

/* In `analyze` the sections of a plugin are among many others. */
static void name_sections(const struct xc_run *run, struct xc_section *first)
{
	if (run->what != XC_RUN_ANALYZE || !run->plugin)
		return;
	for (struct xc_section *s = first; s; s = s->next)
		if (strcmp(s->key, run->plugin) != 0)
			s->key = xc_arena_printf(&run->report->arena, "%s.%s", run->plugin, s->key);
}

static const char *plugin_name(const struct xc_run *run)
{
	return run->plugin ? run->plugin : run->chunk;
}

static bool is_of(const struct xc_section *s, const char *plugin)
{
	size_t len = strlen(plugin);
	return strncmp(s->key, plugin, len) == 0 && (s->key[len] == '.' || s->key[len] == '\0');
}

/* The last section that the plugin made, or a new one. */
static struct xc_section *own_section(const struct xc_run *run)
{
	struct xc_section *found = NULL;
	for (struct xc_section *s = run->report->sections; s; s = s->next)
		if (is_of(s, plugin_name(run)))
			found = s;
	return found ? found : xc_report_section(run->report, plugin_name(run), plugin_name(run));
}

void xc_runner_note(const struct xc_run *run, struct xc_error *err)
{
	xc_section_note(own_section(run), err);
}

const struct xc_stacktree *xc_runner_tree(const struct xc_report *report)
{
	const struct xc_stacktree *tree = NULL;
	for (const struct xc_section *s = report->sections; s; s = s->next)
		for (const struct xc_item *item = s->items; item; item = item->next)
			if (item->kind == XC_ITEM_TREE && strcmp(s->key, SECTION_OF_FLAMES) == 0)
				tree = item->tree;
	return tree;
}

/* Move the results of the run into the report. The run's own error is more precise than an error in partial results. */
static void take_report(struct xc_collected *c)
{
	const struct xc_run *run = c->run;
	struct xc_section **first = sections_end(run);
	struct xc_error *err = c->report.len ? xc_report_read(c->report.bytes, c->report.len, run->report) : NULL;
	name_sections(run, *first);
	if (c->streamed && *first)
		putc('\n', run->stream);
	if (c->lines.len)
		xc_section_lines(own_section(run), "printed", c->lines.bytes);
	if (err && (c->err || c->ending.err || !c->ended))
		xc_error_free(err);
	else if (err)
		c->err = xc_error_wrap(err, "%s", run->name);
}

/* ---- what was used ---- */

struct used {
	double elapsed, cpu;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_of(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static struct xc_table *table_of_scripts(struct xc_section *s)
{
	static const struct xc_column columns[] = {
		{"name", "SCRIPT", XC_FIELD_TEXT, false},        {"elapsed", "ELAPSED", XC_FIELD_SECONDS, false},
		{"cpu", "CPU", XC_FIELD_SECONDS, false},         {"steps", "STEPS", XC_FIELD_COUNT, false},
		{"memory", "LUA MEMORY", XC_FIELD_BYTES, false},
	};
	for (struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_TABLE && strcmp(item->key, "scripts") == 0)
			return item->table;
	return xc_section_table(s, "scripts", columns, XC_COUNT(columns));
}

static void add_usage(const struct xc_collected *c, const struct used *used)
{
	struct xc_section *s = xc_report_run(c->run->report);
	const struct xc_cell cells[] = {
		xc_cell_text(c->run->name),
		xc_cell_seconds(used->elapsed),
		xc_cell_seconds(used->cpu),
		c->ended ? xc_cell_count(c->ending.instructions) : xc_cell_null("it died"),
		c->ended ? xc_cell_bytes(c->ending.memory) : xc_cell_null("it died"),
	};
	xc_table_row(s, table_of_scripts(s), cells);
}

/* ---- how it ended ---- */

static struct xc_error *died(const struct xc_run *run, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return xc_error_new(XC_ERR_LIMIT, "%s: more than %g s (raise it with --max-time)", run->name,
				    run->limits.seconds);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return xc_error_hint(xc_error_new(XC_ERR_LIMIT, "%s: was killed", run->name),
				     "by a user, or by the system because memory was short");
	if (WIFSIGNALED(status))
		return xc_error_hint(
			xc_error_new(XC_ERR_FORMAT, "%s: died of %s", run->name, xc_signal_name(WTERMSIG(status))),
			"a bug in xcore, not in the script: please report it");
	return xc_error_new(XC_ERR_FORMAT, "%s: ended with status %d before its results were complete", run->name,
			    WEXITSTATUS(status));
}

static struct xc_error *error_of(struct xc_collected *c, int status)
{
	if (c->err)
		return xc_take(c->err);
	if (c->ended)
		return xc_take(c->ending.err);
	return died(c->run, status);
}

/* Is the live process still the one that was opened? The child may have found out that it is not, but its knowledge
 * is lost with it: so check the memory once more. */
static bool is_gone(const struct xc_process *process)
{
	char byte;
	for (size_t i = 0; process->live && i < xc_space_count(process->space) && !xc_live_gone(process); i++) {
		const struct xc_segment *s = xc_space_at(process->space, i);
		if (s->provenance != XC_FROM_LIVE)
			continue;
		if (xc_live_reread(process, s->lo, &byte, sizeof byte))
			return false;
	}
	return xc_live_gone(process);
}

/* ---- running ---- */

static void run_here(struct xc_collected *c, struct used *used)
{
	clock_t started = clock();
	struct xc_report *report = xc_report_new("run");
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);
	xc_runner_perform(c->run, report, xc_runner_line, c, &c->ending);
	c->ended = true;
	used->cpu = (double)(clock() - started) / CLOCKS_PER_SEC;
	struct xc_error *err = xc_report_write(report, out);
	fclose(out);
	xc_text_addn(&c->report, bytes, len);
	free(bytes);
	if (err && !c->err)
		c->err = err;
	else
		xc_error_free(err);
	xc_report_free(report);
}

static void wait_for(pid_t child, int *status, struct used *used)
{
	struct rusage usage;
	pid_t got;
	while ((got = wait4(child, status, 0, &usage)) < 0 && errno == EINTR)
		;
	if (got == child)
		used->cpu = cpu_of(&usage);
}

/* False: no child could be made. */
static bool run_in_child(struct xc_collected *c, int *status, struct used *used)
{
	int ends[2];
	pid_t parent = getpid();
	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	signal(SIGCHLD,
	       SIG_DFL); /* it may have been ignored since our start, and then a child could not be waited for */
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		xc_runner_child(c->run, ends[1], parent);
	}
	close(ends[1]);
	if (child > 0)
		xc_runner_collect(c, ends[0]);
	close(ends[0]);
	if (child > 0 && !c->unread)
		wait_for(child, status, used);
	return child > 0;
}

struct xc_error *xc_runner_run(const struct xc_run *run)
{
	struct xc_collected c = {.run = run};
	struct used used = {.elapsed = now()};
	int status = 0;
	if (run->in_process || !run_in_child(&c, &status, &used)) {
		struct xc_run here = *run;
		here.in_process = true;
		c.run = &here;
		run_here(&c, &used);
		c.run = run;
	}
	used.elapsed = now() - used.elapsed;
	bool gone = is_gone(run->process);
	take_report(&c);
	add_usage(&c, &used);
	struct xc_error *err = c.unread ? NULL : error_of(&c, status);
	xc_runner_collected_fini(&c);
	if (gone && !err)
		err = xc_error_new(XC_ERR_IO, "%s: the process exited or executed another program while %s read it",
				   run->process->target, run->name);
	return err;
}
