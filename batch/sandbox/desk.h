/* desk: what a broker is doing, where its batch can see it: in memory that both share, and no worker has.
 *
 * Opening a file may never return: a file system may hang (NFS, FUSE, autofs), and a process that waits for it may not even be killed. So
 * a broker writes down when it begins to open, and the batch gives up one that takes too long: the file is absent then. Where that was is
 * kept in mind, since a hundred libraries of one place would else each take as long. */
#ifndef XC_DESK_H
#define XC_DESK_H

#include <limits.h>
#include <stdatomic.h>

#include "core/base/base.h"
#include "batch/record/sought.h"

enum {
	XC_DESK_SECONDS = 10, /* that an open may take */
	XC_DESKS = 272,
	XC_DESK_LOG = 3 * XC_SOUGHT_MAX, /* bytes: a file that is asked for again is in it again */
	XC_DESK_SILENT = 64,             /* places kept in mind; of more, each file is waited for */
};

/* A root and a path below it, both cut where they are too long. */
struct xc_desk_place {
	char root[PATH_MAX], path[PATH_MAX];
};

enum xc_desk_lack { XC_DESK_NOTHING, XC_DESK_FILE, XC_DESK_SCRATCH, XC_DESK_ANSWER };

enum xc_desk_refusal { XC_DESK_OBEYS, XC_DESK_TOO_MUCH, XC_DESK_FOUL };

/* All but `since_ns` is read when that says that nothing is being opened, or that it has been for too long. */
struct xc_desk {
	_Atomic uint64_t since_ns;    /* of CLOCK_MONOTONIC: when it began to serve a request; 0: it waits for one */
	uint32_t number;              /* of that request, or the last one */
	bool core;                    /* the core is asked for */
	struct xc_desk_place place;   /* what is to be opened */
	bool silent;                  /* something counts as absent because it did not answer */
	int trouble;                  /* errno of what the broker or machine lacked when it was asked; 0: nothing */
	enum xc_desk_lack lack;       /* it was for this */
	bool core_failed, hindered;   /* the core could not be opened; and that is not of the core */
	char why[128];                /* it could not */
	enum xc_desk_refusal refused; /* the worker asked for too much, or not by the rules: the broker has ended */
	size_t log_size;              /* bytes of its log */
	bool log_cut;                 /* something that was looked for had no room in it */
};

struct xc_desks {
	struct xc_desk desks[XC_DESKS];
	_Atomic unsigned silent_count;
	char logs[XC_DESKS][XC_DESK_LOG];            /* of each desk: what its broker has looked for */
	struct xc_desk_place silent[XC_DESK_SILENT]; /* roots; of the host directories */
};

/* Memory that children share; NULL with errno set. Pages that are not touched cost nothing. */
struct xc_desks *xc_desks_map(void);
void xc_desks_unmap(struct xc_desks *desks);

/* A broker's side: write down what is to be opened. */
void xc_desk_write(struct xc_desk *desk, const char *root, const char *path);

/* Did another file of this root, or without one in this directory or above it, not answer? */
bool xc_desks_silent(const struct xc_desks *desks, const char *root, const char *path);

/* Add one that was looked for; of more than fit, those that came first stay. */
void xc_desks_log(struct xc_desks *desks, struct xc_desk *desk, const struct xc_sought *sought);

/* Add all that were to a list. */
void xc_desks_sought(const struct xc_desks *desks, const struct xc_desk *desk, struct xc_sought_list *list);

/* The core cannot be opened. */
#define XC_DESK_NO_ANSWER "it does not answer"
void xc_desk_no_core(struct xc_desk *desk, const char *why, bool hindered);

/* The batch's side: what is on the desk counts as absent; and so do others of its place, since it did not answer. */
void xc_desk_give_up(struct xc_desk *desk);
void xc_desks_give_up(struct xc_desks *desks, struct xc_desk *desk);

#endif
