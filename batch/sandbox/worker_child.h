/* worker_child: the process that is a worker, from its fork to its end: sheds what it inherited, enters the sandbox, asks for its core, reads it, writes
 * a line. */
#ifndef XC_WORKER_CHILD_H
#define XC_WORKER_CHILD_H

#include <sys/types.h>

#include "batch/input/input.h"
#include "batch/sandbox/worker_options.h"

struct xc_worker_child {
	const struct xc_input *input;
	const struct xc_worker_options *options;
	pid_t parent;       /* it ends when this one does */
	int result, socket; /* descriptors: of the pipe for the record, of the broker */
};

/* How it ends, when not by a signal and not with its record (0). What the statuses say is hostile, too. */
enum xc_worker_child_end {
	XC_WORKER_CHILD_LIBDW_OUT_OF_MEMORY = 1, /* __libdw_oom (elfutils 0.188, libdw/libdw_alloc.c) */
	XC_WORKER_CHILD_OUT_OF_MEMORY = 5,       /* xc_alloc does */
	XC_WORKER_CHILD_NO_ROOM = 6,             /* its record says it; where there is more room it may be another */
	XC_WORKER_CHILD_BROKEN =
		9, /* not by its core, but by what is around it; a failed record says why, if it could be written */
};

/* Be one: never returns. Overwrites the environment, which often holds a CI system's secrets. */
_Noreturn void xc_worker_child_run(const struct xc_worker_child *child);

/* Keep these descriptors and no others: they are now XC_WORKER_CHILD_FIRST and those behind it, and standard input and output are /dev/null. Signals
 * are as in the beginning. False when it cannot be done. */
enum { XC_WORKER_CHILD_FIRST = 3, XC_WORKER_CHILD_DESCRIPTORS = 3 /* at most */ };
bool xc_worker_child_shed(const int *descriptors, size_t count);

/* The way in, also of other processes that are to read what is hostile (builder.h): into the probe's name spaces and the sandbox, with these
 * descriptors only, as xc_worker_child_shed. For a process that was just forked; it ends when the parent
 * does. Errors: those of xc_worker_sandbox_enter. */
XC_MUST_CHECK struct xc_error *xc_worker_child_enter(const struct xc_worker_options *options, pid_t parent,
						     const int *descriptors, size_t count);

#endif
