/* target: opens the TARGET of the command line, and closes it. */
#ifndef XC_TARGET_H
#define XC_TARGET_H

#include "core/process/finder.h"
#include "core/process/process.h"
#include "core/process/source_roots.h"
#include "core/base/progress.h"
#include "cli/common.h"

struct xc_target {
	struct xc_finder finder; /* borrows from the options and from cache_dir; its store is owned here */
	struct xc_source_roots source_roots;
	char *cache_dir; /* the user's cache directory, or NULL; owned */
	struct xc_progress progress;
	struct xc_process *process;
	const char *landlock; /* live: the restriction on writing, or why there is none; NULL for cores */
};

/* Called when a live process was opened, before Landlock, after which no more of it can be opened. */
struct xc_target_hook {
	struct xc_error *(*opened)(void *ctx, struct xc_process *process);
	void *ctx;
};

/* The part of opening that needs no target: check --exe, --sysroot and --debug-dir, open the store, find the cache.
 * For commands that open their targets themselves; call xc_target_close afterwards. Errors: as below; after an error
 * nothing is left to close. */
XC_MUST_CHECK struct xc_error *xc_target_prepare(struct xc_target *target, const struct xc_common *common);

/* Open `name`: a file, `pid:N`, or bare digits when no such file exists. A live process is opened with ptrace,
 * signals and writes to it denied; afterwards new files can be created only below write_dir (NULL: nowhere) and in
 * the cache; hook may be NULL. The paths of --exe, --sysroot, --debug-dir and --store must exist, and --exe must be
 * the program of the target. Errors: those of opening, XC_ERR_MISMATCH for --exe. After an error nothing is left to
 * close. */
XC_MUST_CHECK struct xc_error *xc_target_open(struct xc_target *target, const char *name,
					      const struct xc_common *common, const char *write_dir,
					      const struct xc_target_hook *hook);

/* $XDG_CACHE_HOME/NAME, or ~/.cache/NAME, whether or not it exists; malloc'ed; NULL without a home directory. */
char *xc_target_cache_dir(const char *name);

/* Release the process and all data about it, in the order of the layers. May be called on a zeroed struct. */
void xc_target_close(struct xc_target *target);

#endif
