/* broker_status: a broker's current activity, in memory that it shares with the batch. No worker has this memory.
 *
 * Opening a file may never return: a file system may hang (NFS, FUSE, autofs), and a process waiting for it may not
 * even be killable. So a broker records when it begins an open, and the batch gives up an open that takes too long: the
 * file then counts as absent. The place is remembered, because a hundred libraries there would otherwise take as long
 * each. */
#ifndef XC_BROKER_STATUS_H
#define XC_BROKER_STATUS_H

#include <limits.h>
#include <stdatomic.h>

#include "core/base/base.h"
#include "batch/record/file_dependency.h"

enum {
	XC_BROKER_STATUS_SECONDS = 10, /* time limit of an open */
	XC_BROKER_STATUSES = 272,
	XC_BROKER_STATUS_LOG = 3 * XC_FILE_DEPENDENCY_MAX, /* bytes; a file that is requested twice is logged twice */
	XC_BROKER_STATUS_SILENT = 64, /* places remembered; files of any further place are each waited for */
};

/* A root and a path below it, both truncated to fit. */
struct xc_broker_status_place {
	char root[PATH_MAX], path[PATH_MAX];
};

enum xc_broker_status_lack {
	XC_BROKER_STATUS_NOTHING,
	XC_BROKER_STATUS_FILE,
	XC_BROKER_STATUS_SCRATCH,
	XC_BROKER_STATUS_ANSWER
};

enum xc_broker_status_refusal { XC_BROKER_STATUS_OBEYS, XC_BROKER_STATUS_TOO_MUCH, XC_BROKER_STATUS_FOUL };

/* All members but `since_ns` are read only when `since_ns` says that nothing is being opened, or that an open has taken
 * too long. */
struct xc_broker_status {
	_Atomic uint64_t since_ns;           /* CLOCK_MONOTONIC time when it began to serve a request; 0: idle */
	uint32_t number;                     /* of that request, or of the last one */
	bool core;                           /* the request is for the core */
	struct xc_broker_status_place place; /* the file to be opened */
	bool silent;                         /* something counts as absent because it did not respond */
	int trouble;                         /* errno of what the broker or the machine lacked; 0: nothing */
	enum xc_broker_status_lack lack;     /* what it was needed for */
	bool core_failed, hindered;          /* the core could not be opened; and the core is not to blame */
	char why[128];                       /* why the core could not be opened */
	enum xc_broker_status_refusal
		refused; /* the worker asked for too much or broke the rules; the broker has ended */
	size_t log_size; /* bytes of its log */
	bool log_cut;    /* the log had no room for some file */
};

struct xc_broker_statuses {
	struct xc_broker_status statuses[XC_BROKER_STATUSES];
	_Atomic unsigned silent_count;
	char logs[XC_BROKER_STATUSES][XC_BROKER_STATUS_LOG]; /* by status: the files that its broker looked for */
	struct xc_broker_status_place silent[XC_BROKER_STATUS_SILENT]; /* roots; for host files, directories */
};

/* Memory shared with child processes; NULL with errno set. Untouched pages cost nothing. */
struct xc_broker_statuses *xc_broker_status_map(void);
void xc_broker_status_unmap(struct xc_broker_statuses *statuses);

/* For the broker: publishes the file that is about to be opened. */
void xc_broker_status_set_place(struct xc_broker_status *status, const char *root, const char *path);

/* Has another file of this root, or for a host file one in this directory or above it, not responded? */
bool xc_broker_status_is_silent(const struct xc_broker_statuses *statuses, const char *root, const char *path);

/* Adds a file that was looked for. When the log is full, later files are dropped. */
void xc_broker_status_log(struct xc_broker_statuses *statuses, struct xc_broker_status *status,
			  const struct xc_file_dependency *dependency);

/* Adds all logged files to the list. */
void xc_broker_status_dependencies(const struct xc_broker_statuses *statuses, const struct xc_broker_status *status,
				   struct xc_file_dependency_list *list);

/* Records that the core cannot be opened. */
#define XC_BROKER_STATUS_NO_ANSWER "it does not answer"
void xc_broker_status_no_core(struct xc_broker_status *status, const char *why, bool hindered);

/* For the batch: the file in the status counts as absent. The second function also marks its whole place as
 * unresponsive. */
void xc_broker_status_give_up(struct xc_broker_status *status);
void xc_broker_status_give_up_place(struct xc_broker_statuses *statuses, struct xc_broker_status *status);

#endif
