/* inmate: the process that is a worker, from its fork to its end: sheds what it inherited, enters the jail, asks for its core, reads it, writes
 * a line. */
#ifndef XC_INMATE_H
#define XC_INMATE_H

#include <sys/types.h>

#include "batch/input/input.h"
#include "batch/sandbox/worker_options.h"

struct xc_inmate {
	const struct xc_input *input;
	const struct xc_worker_options *options;
	pid_t parent;       /* it ends when this one does */
	int result, socket; /* descriptors: of the pipe for the record, of the broker */
};

/* How it ends, when not by a signal and not with its record (0). What the statuses say is hostile, too. */
enum xc_inmate_end {
	XC_INMATE_LIBDW_OUT_OF_MEMORY = 1, /* __libdw_oom (elfutils 0.188, libdw/libdw_alloc.c) */
	XC_INMATE_OUT_OF_MEMORY = 5,       /* xc_alloc does */
	XC_INMATE_NO_ROOM = 6,             /* its record says it; where there is more room it may be another */
	XC_INMATE_BROKEN =
		9, /* not by its core, but by what is around it; a failed record says why, if it could be written */
};

/* Be one: never returns. Overwrites the environment, which often holds a CI system's secrets. */
_Noreturn void xc_inmate_live(const struct xc_inmate *inmate);

/* Keep these descriptors and no others: they are now XC_INMATE_FIRST and those behind it, and standard input and output are /dev/null. Signals
 * are as in the beginning. False when it cannot be done. */
enum { XC_INMATE_FIRST = 3, XC_INMATE_DESCRIPTORS = 3 /* at most */ };
bool xc_inmate_shed(const int *descriptors, size_t count);

/* The way in, also of other processes that are to read what is hostile (builder.h): into the scout's name spaces and the jail, with these
 * descriptors only, as xc_inmate_shed. For a process that was just forked; it ends when the parent
 * does. Errors: those of xc_jail_enter. */
XC_MUST_CHECK struct xc_error *xc_inmate_enter(const struct xc_worker_options *options, pid_t parent,
					       const int *descriptors, size_t count);

#endif
