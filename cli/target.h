/* target: from the TARGET on the command line to an open process, and back. */
#ifndef XC_TARGET_H
#define XC_TARGET_H

#include "core/process/finder.h"
#include "core/process/process.h"
#include "core/base/progress.h"
#include "cli/common.h"

struct xc_target {
	struct xc_finder finder; /* borrows from the options and from cache_dir; its store is owned here */
	char *cache_dir;         /* where this user's caches are, or NULL; owned */
	struct xc_progress progress;
	struct xc_process *process;
	const char *landlock; /* live: what limits writing, or why nothing does; NULL for cores */
};

/* The part of opening that needs no name: check what --exe, --sysroot and --debug-dir name, open the store, find the cache. For commands that
 * open their targets by other means; xc_target_close afterwards. Errors: as below; on failure nothing is left to close. */
XC_MUST_CHECK struct xc_error *xc_target_prepare(struct xc_target *target, const struct xc_common *common);

/* Open `name`: a file, `pid:N`, or bare digits where no such file exists. A live process is opened
 * with ptrace, signals and writes to it denied; afterwards only files below write_dir (NULL: none) and the cache can be
 * made.
 * What --exe, --sysroot, --debug-dir and --store name must exist, and --exe must be the program of the target.
 * Errors: those of opening, XC_ERR_MISMATCH for --exe. On failure nothing is left to close. */
XC_MUST_CHECK struct xc_error *xc_target_open(struct xc_target *target, const char *name,
					      const struct xc_common *common, const char *write_dir);

/* $XDG_CACHE_HOME/NAME, or ~/.cache/NAME, whether it is there or not; malloc'ed; NULL without a home. */
char *xc_target_cache_dir(const char *name);

/* Release the process and all that hangs on it, in the order that the layers need. Fine on a zeroed struct. */
void xc_target_close(struct xc_target *target);

#endif
