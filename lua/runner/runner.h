/* runner: a plugin or a script runs over the open target, in a child of its own.
 *
 * The child is forked from the process that opened the target, so it sees what is open (a core's mapping; a live process behind
 * both fences of core/live/sandbox.h) and neither crash, memory nor endless loop of a plugin is ours. It fills a report of its own,
 * which comes home over a pipe (core/report/report_wire.h). It ends itself by a timer, since its parent may not send signals:
 * softly, as an error of the script, after limits.seconds; by SIGALRM soon after that. It does not outlive its parent.
 *
 * What was made before a soft end is kept; of a child that died nothing but the printed lines. Where the system lets nobody
 * fork, the run is done in this process. Not thread-safe; no threads of ours may run. */
#ifndef XC_RUNNER_H
#define XC_RUNNER_H

#include <stdio.h>

#include "lua/vm/host.h"

enum xc_run_what {
	XC_RUN_SCRIPT,  /* the chunk, with the arguments as `...` and in the table `arg` */
	XC_RUN_ANALYZE, /* analyze(t, report) of the plugin that the chunk returns; nothing when it has none */
	XC_RUN_COMMAND, /* commands[entry].run(t, report, args) of that plugin */
	XC_RUN_CLAIMS, /* claims(t, heap) of that plugin: a section "claims" for xc_claim_transfer_load; the heap must be open */
	XC_RUN_STACKS, /* stacks(t, stacks) of that plugin: a section "stacks" for xc_foreign_load, also of what was told before an error */
	XC_RUN_FLAME, /* flames[entry].run(t, tree) of that plugin: see xc_runner_tree */
};

struct xc_run {
	struct xc_process *process;
	struct xc_report *report; /* gets the sections, behind those that it has */
	enum xc_run_what what;
	const char *plugin; /* "redis"; NULL for a script */
	const char *name;   /* "plugin redis", "walk.lua": begins messages */
	const char *chunk;  /* "redis/init.lua": what Lua calls the text in messages */
	const char *text;   /* Lua */
	size_t len;
	const char *entry; /* COMMAND, FLAME */
	const char *const *args;
	size_t arg_count;
	struct xc_limits limits;
	const char *const *module_dirs; /* where require looks */
	size_t module_dir_count;
	FILE *stream; /* printed lines go here at once, escaped; NULL: into report->output */
	bool shows; /* SCRIPT: what the chunk returns is printed: tables as the shell shows them, else as print does */
	bool redacts, unsafe; /* see host.h */
	bool quiet;           /* no progress on the terminal */
	bool in_process;      /* no child: for tests, and for what must not be forked */
};

/* Do it. ANALYZE: keys of sections are "redis.KEY" (or "redis" when KEY is that), and printed lines are a text of the
 * last of them. A row of the table `scripts` in the report's `run` section tells what was used. When nobody reads the stream
 * any more the run is given up; that is no error.
 *
 * Errors: those of the script (its traceback as lines), and XC_ERR_NOT_FOUND for an entry that is not there; XC_ERR_LIMIT
 * for a limit, with the option that raises it, and XC_ERR_FORMAT for a child that died or whose answer is damaged: these have
 * `name` in front. In all cases what was made until then is in the report. */
XC_MUST_CHECK struct xc_error *xc_runner_run(const struct xc_run *run);

/* A failure in `analyze` is a warning in the last section that the plugin made, else in one of its own. Takes err. */
void xc_runner_note(const struct xc_run *run, struct xc_error *err);

/* The tree of the XC_RUN_FLAME that was run last; the report's. NULL when it did not come so far. */
const struct xc_stacktree *xc_runner_tree(const struct xc_report *report);

#endif
