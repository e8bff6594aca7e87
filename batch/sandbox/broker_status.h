/* broker_status: what a broker is doing, where its batch can see it: in memory that both share, and no worker has.
 *
 * Opening a file may never return: a file system may hang (NFS, FUSE, autofs), and a process that waits for it may not even be killed. So
 * a broker writes down when it begins to open, and the batch gives up one that takes too long: the file is absent then. Where that was is
 * kept in mind, since a hundred libraries of one place would else each take as long. */
#ifndef XC_BROKER_STATUS_H
#define XC_BROKER_STATUS_H

#include <limits.h>
#include <stdatomic.h>

#include "core/base/base.h"
#include "batch/record/file_dependency.h"

enum {
	XC_BROKER_STATUS_SECONDS = 10, /* that an open may take */
	XC_BROKER_STATUSES = 272,
	XC_BROKER_STATUS_LOG = 3 * XC_FILE_DEPENDENCY_MAX, /* bytes: a file that is asked for again is in it again */
	XC_BROKER_STATUS_SILENT = 64,                      /* places kept in mind; of more, each file is waited for */
};

/* A root and a path below it, both cut where they are too long. */
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

/* All but `since_ns` is read when that says that nothing is being opened, or that it has been for too long. */
struct xc_broker_status {
	_Atomic uint64_t since_ns; /* of CLOCK_MONOTONIC: when it began to serve a request; 0: it waits for one */
	uint32_t number;           /* of that request, or the last one */
	bool core;                 /* the core is asked for */
	struct xc_broker_status_place place; /* what is to be opened */
	bool silent;                         /* something counts as absent because it did not answer */
	int trouble;                     /* errno of what the broker or machine lacked when it was asked; 0: nothing */
	enum xc_broker_status_lack lack; /* it was for this */
	bool core_failed, hindered;      /* the core could not be opened; and that is not of the core */
	char why[128];                   /* it could not */
	enum xc_broker_status_refusal
		refused; /* the worker asked for too much, or not by the rules: the broker has ended */
	size_t log_size; /* bytes of its log */
	bool log_cut;    /* something that was looked for had no room in it */
};

struct xc_broker_statuses {
	struct xc_broker_status statuses[XC_BROKER_STATUSES];
	_Atomic unsigned silent_count;
	char logs[XC_BROKER_STATUSES][XC_BROKER_STATUS_LOG]; /* of each status: what its broker has looked for */
	struct xc_broker_status_place silent[XC_BROKER_STATUS_SILENT]; /* roots; of the host directories */
};

/* Memory that children share; NULL with errno set. Pages that are not touched cost nothing. */
struct xc_broker_statuses *xc_broker_status_map(void);
void xc_broker_status_unmap(struct xc_broker_statuses *statuses);

/* A broker's side: write down what is to be opened. */
void xc_broker_status_set_place(struct xc_broker_status *status, const char *root, const char *path);

/* Did another file of this root, or without one in this directory or above it, not answer? */
bool xc_broker_status_is_silent(const struct xc_broker_statuses *statuses, const char *root, const char *path);

/* Add one that was looked for; of more than fit, those that came first stay. */
void xc_broker_status_log(struct xc_broker_statuses *statuses, struct xc_broker_status *status,
			  const struct xc_file_dependency *dependency);

/* Add all that were to a list. */
void xc_broker_status_dependencies(const struct xc_broker_statuses *statuses, const struct xc_broker_status *status,
				   struct xc_file_dependency_list *list);

/* The core cannot be opened. */
#define XC_BROKER_STATUS_NO_ANSWER "it does not answer"
void xc_broker_status_no_core(struct xc_broker_status *status, const char *why, bool hindered);

/* The batch's side: what is on the status counts as absent; and so do others of its place, since it did not answer. */
void xc_broker_status_give_up(struct xc_broker_status *status);
void xc_broker_status_give_up_place(struct xc_broker_statuses *statuses, struct xc_broker_status *status);

#endif
