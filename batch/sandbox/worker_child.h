/* worker_child: the process that is a worker, from fork to exit: drops what it inherited, enters the sandbox, asks for
 * its core, examines it, and writes one line. */
#ifndef XC_WORKER_CHILD_H
#define XC_WORKER_CHILD_H

#include <sys/types.h>

#include "batch/input/input.h"
#include "batch/sandbox/worker_options.h"

struct xc_worker_child {
	const struct xc_input *input;
	const struct xc_worker_options *options;
	pid_t parent;       /* the worker ends when its parent does */
	int result, socket; /* descriptors: the record's pipe, the broker's socket */
};

/* Exit statuses other than 0 (a record was written). They are as hostile as the record. */
enum xc_worker_child_end {
	XC_WORKER_CHILD_LIBDW_OUT_OF_MEMORY = 1, /* __libdw_oom (elfutils 0.188, libdw/libdw_alloc.c) */
	XC_WORKER_CHILD_OUT_OF_MEMORY = 5,       /* from xc_alloc */
	XC_WORKER_CHILD_NO_ROOM = 6,             /* the record says so; with more disk space it may be another */
	XC_WORKER_CHILD_BROKEN =
		9, /* its environment failed, not its core; a failed record says why, if one could be written */
};

/* Runs the worker; does not return. Overwrites the environment, which often holds a CI system's secrets. */
_Noreturn void xc_worker_child_run(const struct xc_worker_child *child);

/* Keeps only these descriptors, numbered from XC_WORKER_CHILD_FIRST; standard input, output and error become /dev/null.
 * Resets all signals. False on failure. */
enum { XC_WORKER_CHILD_FIRST = 3, XC_WORKER_CHILD_DESCRIPTORS = 3 /* at most */ };
bool xc_worker_child_shed(const int *descriptors, size_t count);

/* Enters the probe's name spaces and the sandbox with these descriptors only, as xc_worker_child_shed. Also for other
 * processes that read hostile data (builder.h). For a process that was just forked, which then ends when its parent
 * does. Errors: those of xc_worker_sandbox_enter. */
XC_MUST_CHECK struct xc_error *xc_worker_child_enter(const struct xc_worker_options *options, pid_t parent,
						     const int *descriptors, size_t count);

#endif
