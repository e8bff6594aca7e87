/* shared_status: what a command reports to the process that supervises it (cli/watchdog/watchdog.h), in memory that
 * both map.
 *
 * A command that waits for a hung file cannot answer questions, so it records in advance what its keeper must know.
 * Without a keeper (unit tests, a system that allows no further process) the same calls write to private memory that
 * nobody reads. */
#ifndef XC_SHARED_STATUS_H
#define XC_SHARED_STATUS_H

#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { XC_SHARED_TIMEOUT_S = 30, XC_SHARED_TEMPFILES = 16, XC_SHARED_UNRESPONSIVE = 8 };

/* The command may be compromised: the keeper trusts its paths only after xc_shared_status_is_tempfile. */
struct xc_shared_status {
	pid_t keeper;
	atomic_uint timeout_s;       /* seconds a file may take to answer; 0: no limit */
	atomic_bool handles_sigint;  /* SIGINT does not end the command, which handles it itself */
	atomic_bool saves_on_signal; /* after a signal the command saves its work, which takes some seconds */
	atomic_bool quiet;           /* print no hints */
	atomic_bool redacts;         /* hide the user's data in messages */
	atomic_bool shows_progress;  /* a line of progress is on the terminal */
	atomic_bool restartable;     /* nothing has had a visible effect yet: the command may start again */
	atomic_int opening_tid;      /* the thread that opens `opening_path`, an optional file; 0: none */
	char opening_path[PATH_MAX];
	unsigned unresponsive_count; /* directories that did not answer; written by the keeper */
	char unresponsive[XC_SHARED_UNRESPONSIVE][PATH_MAX];
	struct {
		atomic_bool taken;    /* the slot is in use; its path may be incomplete */
		atomic_bool complete; /* the path may be read */
		char path[PATH_MAX];
	} tempfiles[XC_SHARED_TEMPFILES];
};

/* Map one, shared with children forked from now on. NULL: there is no memory for it. */
struct xc_shared_status *xc_shared_status_map(void);

/* Make this process report to `status`, which is borrowed. */
void xc_shared_status_use(struct xc_shared_status *status);

/* Allow the keeper to ptrace this process where Yama allows that only to ancestors. Each process that opens files calls
 * it. */
void xc_shared_status_allow_ptrace(void);

/* Unmap the shared memory, in a process that is not trusted. It reports to private memory from then on. */
void xc_shared_status_detach(void);

/* The status in use; never NULL. */
struct xc_shared_status *xc_shared_status(void);

/* Begin to open a file that the result can do without; xc_shared_status_end_open ends it. False: do not open it,
 * because its directory did not answer before. */
bool xc_shared_status_begin_open(const char *path);
void xc_shared_status_end_open(void);

/* Register a file that is written under a temporary name ("DIR/.NAME-PID.part"): the keeper removes it if this process
 * dies. Files beyond XC_SHARED_TEMPFILES at a time are not registered. */
void xc_shared_status_add_tempfile(const char *path);

/* Unregister it: it has its final name or was removed. */
void xc_shared_status_remove_tempfile(const char *path);

/* Is `path` such a temporary name of process `pid`, and no file of the user's? It ends in ".part", after "-PID", ".PID"
 * or ".PID-NUMBER". */
bool xc_shared_status_is_tempfile(const char *path, pid_t pid);

#endif
