/* runner: runs a plugin or a script on the open target, in a child process.
 *
 * The child is forked from the process that opened the target, so it has access to it (the mapping of a core; a live
 * process in both sandboxes of core/live/sandbox.h), and a crash, exhausted memory or an endless loop of a plugin does
 * not affect the parent. It fills a report of its own, which it sends over a pipe (core/report/report_wire.h). It ends
 * itself by a timer, since its parent must not send signals: first by an error of the script after limits.seconds, soon
 * after that by SIGALRM. It does not outlive its parent.
 *
 * After an error of the script its results are kept; of a child that died only the printed lines. Where the system
 * denies fork, the run is done in this process. Not thread-safe; no other threads of this process may run. */
#ifndef XC_RUNNER_H
#define XC_RUNNER_H

#include <stdio.h>

#include "lua/vm/host.h"

enum xc_run_what {
	XC_RUN_SCRIPT,  /* the chunk, with the arguments as `...` and in the table `arg` */
	XC_RUN_ANALYZE, /* analyze(t, report) of the plugin that the chunk returns; nothing when it has none */
	XC_RUN_COMMAND, /* commands[entry].run(t, report, args) of that plugin */
	XC_RUN_CLAIMS, /* claims(t, heap) of that plugin: a section for xc_claim_transfer_load; the heap must be open */
	XC_RUN_STACKS, /* stacks(t, stacks) of that plugin: a section for xc_foreign_load, also after an error */
	XC_RUN_FLAME,  /* flames[entry].run(t, tree) of that plugin: see xc_runner_tree */
};

struct xc_run {
	struct xc_process *process;
	struct xc_report *report; /* receives the sections, after existing ones */
	enum xc_run_what what;
	const char *plugin; /* "redis"; NULL for a script */
	const char *name;   /* "plugin redis", "walk.lua": the start of messages */
	const char *chunk;  /* "redis/init.lua": the name of the text in Lua's messages */
	const char *text;   /* Lua */
	size_t len;
	const char *entry; /* COMMAND, FLAME */
	bool detached;     /* STACKS: those on no thread are wanted */
	const char *const *args;
	size_t arg_count;
	struct xc_limits limits;
	const char *const *module_dirs; /* the directories of require */
	size_t module_dir_count;
	struct xc_profile_child *profiler; /* see host.h */
	FILE *stream; /* printed lines are written here at once, escaped; NULL: into report->output */
	bool shows;   /* SCRIPT: print the results of the chunk: tables as in the shell, other values as by print */
	bool redacts, unsafe; /* see host.h */
	bool quiet;           /* no progress on the terminal */
	bool in_process;      /* no child process: for tests, and for runs that must not fork */
};

/* Run it. ANALYZE: keys of sections are "redis.KEY" (or "redis" when KEY is that), and printed lines are a text of the
 * last of them. A row of the table `scripts` in the report's `run` section lists the resources used. When the stream is
 * no longer read the run is stopped; that is not an error.
 *
 * Errors: those of the script (its traceback as lines), and XC_ERR_NOT_FOUND for an entry that does not exist;
 * XC_ERR_LIMIT for a limit, with the option that raises it, and XC_ERR_FORMAT for a child that died or whose results
 * are damaged: these start with `name`. In all cases the report has the results so far. */
XC_MUST_CHECK struct xc_error *xc_runner_run(const struct xc_run *run);

/* Report a failure in `analyze` as a warning in the last section that the plugin made, else in a section of its own.
 * Takes err. */
void xc_runner_note(const struct xc_run *run, struct xc_error *err);

/* The tree of the last XC_RUN_FLAME; owned by the report. NULL when the run did not get that far. */
const struct xc_stacktree *xc_runner_tree(const struct xc_report *report);

#endif
