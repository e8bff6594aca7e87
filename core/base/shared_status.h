/* told: what a command tells the process that keeps it (cli/keeper.h), in memory that both have.
 *
 * A command that waits for a file that does not answer cannot be asked anything, so what its keeper must know then is told before. Where nobody
 * keeps it (the unit tests, a system that has no room for one more process) all this is told to nobody. */
#ifndef XC_SHARED_STATUS_H
#define XC_SHARED_STATUS_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { XC_SHARED_TIMEOUT_S = 30, XC_SHARED_TEMPFILES = 16, XC_SHARED_UNRESPONSIVE = 8 };

/* Paths hold what a command wrote; its keeper trusts them only as xc_shared_status_is_tempfile says. */
struct xc_shared_status {
	pid_t keeper;
	atomic_uint timeout_s;  /* a file may take so long to answer; 0: as long as it wants */
	atomic_bool handles_sigint; /* SIGINT: it is no end, but something to do */
	atomic_bool saves_on_signal;       /* what it has done so far, when a signal ends it: that takes some time */
	atomic_bool quiet;    /* wants no hints */
	atomic_bool shows_progress;       /* a line of progress stands on the terminal */
	atomic_bool restartable;  /* nothing of what was done can be seen yet: it may begin again */
	atomic_int opening_tid;       /* the thread that opens `sought`, which the answer can do without; 0: none */
	char opening_path[PATH_MAX];
	unsigned unresponsive_count; /* directories that did not answer; told by the keeper */
	char unresponsive[XC_SHARED_UNRESPONSIVE][PATH_MAX];
	struct {
		atomic_bool taken; /* by who writes the path now, or has written it */
		atomic_bool complete;
		char path[PATH_MAX];
	} tempfiles[XC_SHARED_TEMPFILES];
};

/* One, in memory that children made from now on have, too; NULL when there is none to be had. */
struct xc_shared_status *xc_shared_status_map(void);

/* From now on this process tells here. Borrowed. */
void xc_shared_status_use(struct xc_shared_status *told);

/* Let the keeper's helpers look at this process where only those who started it may (Yama). For each process that waits for files of its own. */
void xc_shared_status_allow_ptrace(void);

/* From now on this process, which is not trusted, tells nobody and cannot reach that memory. */
void xc_shared_status_detach(void);

/* What is in use; never NULL. */
struct xc_shared_status *xc_shared_status(void);

/* This thread looks now for a file that the answer can do without, until xc_shared_status_end_open. False: it is not to, since its directory did not answer. */
bool xc_shared_status_begin_open(const char *path);
void xc_shared_status_end_open(void);

/* A file is being written under a name that it shall not keep ("DIR/.NAME-PID.part"): it is to go if we do not come to that. Of more than
 * XC_SHARED_TEMPFILES at once, the last ones are not told. */
void xc_shared_status_add_tempfile(const char *path);

/* It has its own name now, or is gone. */
void xc_shared_status_remove_tempfile(const char *path);

/* May this be such a name of process `pid`, and no file of the user's? It ends in ".part", behind "-PID", ".PID" or ".PID-NUMBER". */
bool xc_shared_status_is_tempfile(const char *path, pid_t pid);

#endif
