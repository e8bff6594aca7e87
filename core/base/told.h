/* told: what a command tells the process that keeps it (cli/keeper.h), in memory that both have.
 *
 * A command that waits for a file that does not answer cannot be asked anything, so what its keeper must know then is told before. Where nobody
 * keeps it (the unit tests, a system that has no room for one more process) all this is told to nobody. */
#ifndef XC_TOLD_H
#define XC_TOLD_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { XC_TOLD_SECONDS = 30, XC_TOLD_ASIDES = 16, XC_TOLD_SILENT = 8 };

/* Paths hold what a command wrote; its keeper trusts them only as xc_told_is_aside says. */
struct xc_told {
	pid_t keeper;
	atomic_uint patience_s;  /* a file may take so long to answer; 0: as long as it wants */
	atomic_bool understands; /* SIGINT: it is no end, but something to do */
	atomic_bool saves;       /* what it has done so far, when a signal ends it: that takes some time */
	atomic_bool is_quiet;    /* wants no hints */
	atomic_bool shows;       /* a line of progress stands on the terminal */
	atomic_bool repeatable;  /* nothing of what was done can be seen yet: it may begin again */
	atomic_int seeker;       /* the thread that opens `sought`, which the answer can do without; 0: none */
	char sought[PATH_MAX];
	unsigned silent_count; /* directories that did not answer; told by the keeper */
	char silent[XC_TOLD_SILENT][PATH_MAX];
	struct {
		atomic_bool taken; /* by who writes the path now, or has written it */
		atomic_bool whole;
		char path[PATH_MAX];
	} asides[XC_TOLD_ASIDES];
};

/* One, in memory that children made from now on have, too; NULL when there is none to be had. */
struct xc_told *xc_told_map(void);

/* From now on this process tells here. Borrowed. */
void xc_told_use(struct xc_told *told);

/* Let the keeper's helpers look at this process where only those who started it may (Yama). For each process that waits for files of its own. */
void xc_told_admit(void);

/* From now on this process, which is not trusted, tells nobody and cannot reach that memory. */
void xc_told_leave(void);

/* What is in use; never NULL. */
struct xc_told *xc_told(void);

/* This thread looks now for a file that the answer can do without, until xc_told_found. False: it is not to, since its directory did not answer. */
bool xc_told_seek(const char *path);
void xc_told_found(void);

/* A file is being written under a name that it shall not keep ("DIR/.NAME-PID.part"): it is to go if we do not come to that. Of more than
 * XC_TOLD_ASIDES at once, the last ones are not told. */
void xc_told_aside(const char *path);

/* It has its own name now, or is gone. */
void xc_told_done(const char *path);

/* May this be such a name of process `pid`, and no file of the user's? It ends in ".part", behind "-PID", ".PID" or ".PID-NUMBER". */
bool xc_told_is_aside(const char *path, pid_t pid);

#endif
