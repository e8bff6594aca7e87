/* host: a sandboxed Lua state that can only read one target.
 *
 * Each plugin, script or shell has its own state: with the libraries that neither open files nor load code, with
 * limits on instructions, memory and time, and with the module `xcore` (API version 1: xcore.d.lua). The process
 * must outlive the state. Not thread-safe. */
#ifndef XC_HOST_H
#define XC_HOST_H

#include <stdio.h>

#include "core/process/process.h"
#include "core/report/report.h"

/* Limits of a run; 0: no limit. When a limit is reached the run ends: pcall and similar functions cannot catch it. */
struct xc_limits {
	uint64_t instructions; /* of the Lua virtual machine; string patterns count their steps */
	uint64_t memory;       /* bytes of Lua objects */
	double seconds;        /* wall-clock time, while the script runs */
	bool may_starve;       /* ... and then as much CPU time again: a wait for a CPU ends no run */
	uint64_t printed;      /* bytes of lines that it prints */
};

struct xc_limits xc_limits_defaults(void);

/* Receives the lines that a script prints. */
typedef void xc_output_fn(void *user, const char *line, size_t len);

struct xc_progress;
struct xc_profile_child;

struct xc_host_options {
	struct xc_process *process; /* NULL: no target (reading a manifest) */
	struct xc_report *report;   /* filled by xcore.report; may be NULL */
	const char *name;           /* "plugin redis": the start of messages about limits */
	struct xc_limits limits;
	const char *const *module_dirs; /* searched by require for NAME.lua; borrowed for the life of the host */
	size_t module_dir_count;
	xc_output_fn *output; /* NULL: lines are dropped */
	void *output_user;
	struct xc_progress *progress;      /* used by xcore.progress; may be NULL */
	struct xc_profile_child *profiler; /* takes profiles for t:profile; NULL: none are taken */
	bool redacts;                      /* the value of xcore.redacts */
	bool unsafe;                       /* also provide io, os and loading of bytecode */
};

struct xc_host;

/* Never NULL. */
struct xc_host *xc_host_new(const struct xc_host_options *options);
void xc_host_free(struct xc_host *host); /* NULL is fine */

/* Run a chunk of text, with the arguments as `...` and in the table `arg`. Messages call it `name`
 * ("redis/init.lua", "-e"). Its results stay on the Lua stack (bind.h). Errors: those of scripts, with file, line
 * and, as lines, a traceback; XC_ERR_LIMIT for a limit. */
XC_MUST_CHECK struct xc_error *xc_host_run(struct xc_host *host, const char *name, const char *text, size_t len,
					   const char *const *args, size_t arg_count);

/* As part of the run that xc_host_run started: call the function below `count` arguments on the Lua stack (bind.h).
 * Function and arguments are replaced by the results, after an error by nothing. Code that can raise belongs in a C
 * function that is called in this way. Errors: as above. */
XC_MUST_CHECK struct xc_error *xc_host_call(struct xc_host *host, int count);

#endif
