/* host: a Lua state that looks at one target and can do nothing else.
 *
 * A plugin, a script or a line of the shell runs in a state of its own: with the libraries that neither open files nor load code,
 * with limits on instructions, memory and time, and with the module `xcore` (API version 1: xcore.d.lua). The
 * process must outlive the state. Not thread-safe. */
#ifndef XC_HOST_H
#define XC_HOST_H

#include <stdio.h>

#include "core/process/process.h"
#include "core/report/report.h"

/* What a run may use; 0 is no limit. A limit that was reached is final: pcall and its like cannot catch it. */
struct xc_limits {
	uint64_t instructions; /* of the Lua machine; string patterns count their steps */
	uint64_t memory;       /* bytes of Lua objects */
	double seconds;        /* by the wall clock, while something of it runs */
};

struct xc_limits xc_limits_defaults(void);

/* Takes the lines that a script prints. */
typedef void xc_output_fn(void *user, const char *line, size_t len);

struct xc_progress;

struct xc_host_options {
	struct xc_process *process; /* NULL: there is no target (a plugin is only looked at) */
	struct xc_report *report;   /* what xcore.report fills; may be NULL */
	const char *name;           /* "plugin redis": begins messages about limits */
	struct xc_limits limits;
	const char *const *module_dirs; /* where require looks for NAME.lua; borrowed for the life of the host */
	size_t module_dir_count;
	xc_output_fn *output; /* NULL: lines are dropped */
	void *output_user;
	struct xc_progress *progress; /* what xcore.progress draws; may be NULL */
	bool redacts;                 /* what xcore.redacts says */
	bool unsafe;                  /* io, os and loading of bytecode too */
};

struct xc_host;

/* Never NULL. */
struct xc_host *xc_host_new(const struct xc_host_options *options);
void xc_host_free(struct xc_host *host); /* NULL is fine */

/* Run a chunk of text, with the arguments as `...` and in the table `arg`. `name` is how messages call it ("redis/init.lua",
 * "-e"). What it returns stays on the Lua stack (bind.h).
 * Errors: those of scripts, with file, line and, as lines, a traceback; XC_ERR_LIMIT for a limit. */
XC_MUST_CHECK struct xc_error *xc_host_run(struct xc_host *host, const char *name, const char *text, size_t len,
					   const char *const *args, size_t arg_count);

/* In the run that xc_host_run began: call the function that lies below `count` arguments on the Lua stack (bind.h). All of them are
 * replaced by its results; after an error by nothing. What can raise belongs into a C function that is called so.
 * Errors: as above. */
XC_MUST_CHECK struct xc_error *xc_host_call(struct xc_host *host, int count);

#endif
