/* stall: which file a process waits for, and for how long it has.
 *
 * A file system may hang (NFS, FUSE, autofs, a broken disk), and then the call that asks it for something does not return, perhaps not even for a
 * signal. So another process looks what its threads do, as the kernel tells it (/proc/PID/task/TID/syscall). While a thread is in the same call and
 * has not waited again since, it waits for one thing. Where the kernel does not tell, nothing is known and nobody waits. */
#ifndef XC_STALL_H
#define XC_STALL_H

#include <sys/types.h>

#include "core/base/text.h"

enum xc_stall_kind {
	XC_STALL_NONE,
	XC_STALL_PIPE, /* a pipe, or standard input that is no file: who is at its other end may take any time */
	XC_STALL_FILE,
};

enum { XC_STALL_CALL = 256, XC_STALL_WAITS = 64 };

struct xc_stalled_thread {
	enum xc_stall_kind kind;
	pid_t pid, tid;
	uint64_t since_ms; /* when it was first seen so */
	char call
		[XC_STALL_CALL]; /* its number, its arguments, the stack, the instruction; "-1" for a fault of memory */
	char waits[XC_STALL_WAITS]; /* how often it has waited */
};

/* What was seen by the last look; zero before the first one. */
struct xc_stall {
	struct xc_stalled_thread *threads;
	size_t count;
};

/* Look at all threads of a process and of those that it has started, at `now_ms` by a clock of the caller's. Those that have a session of their own are
 * left out: who made these looks after them. Asks nothing that could hang, too. */
void xc_stall_scan(struct xc_stall *stall, pid_t pid, uint64_t now_ms);

/* The thread that waits longest so; NULL: none does. Good until the next look. */
const struct xc_stalled_thread *xc_stall_longest(const struct xc_stall *stall, enum xc_stall_kind kind);

/* Add what a thread waits for: a path, or words like "standard input". Nothing where that is not known. This may hang with it: for a process that
 * can be given up. */
void xc_stall_describe(const struct xc_stalled_thread *stalled, struct xc_text *text);

void xc_stall_fini(struct xc_stall *stall);

/* The processes that a process has started. Malloc'ed, ends with 0. None where the kernel does not tell. */
pid_t *xc_stall_children(pid_t pid);

#endif
