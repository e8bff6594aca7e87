/* stall: detects threads that are blocked on a hung file, and for how long.
 *
 * A file system may hang (NFS, FUSE, autofs, a broken disk). System calls on it then do not return, perhaps not even
 * for a signal. So another process samples the threads through /proc/PID/task/TID/syscall. A thread that is in the same
 * call as before, with the same count of context switches, has been blocked in it since. Where the kernel hides the
 * call, no thread counts as blocked. */
#ifndef XC_STALL_H
#define XC_STALL_H

#include <sys/types.h>

#include "core/base/text.h"

enum xc_stall_kind {
	XC_STALL_NONE,
	XC_STALL_PIPE, /* a pipe, or standard input that is no file: its other end may take any time */
	XC_STALL_FILE,
};

enum { XC_STALL_CALL = 256, XC_STALL_WAITS = 64 };

struct xc_stalled_thread {
	enum xc_stall_kind kind;
	pid_t pid, tid;
	uint64_t since_ms;          /* time of the first sample that showed it in this call */
	char call[XC_STALL_CALL];   /* number, arguments, stack pointer, program counter; "-1" for a page fault */
	char waits[XC_STALL_WAITS]; /* its voluntary context switches */
};

/* The blocked threads of the last scan; zero before the first one. */
struct xc_stall {
	struct xc_stalled_thread *threads;
	size_t count;
};

/* Scan all threads of a process and of its descendants in the same session, at `now_ms` by the caller's clock.
 * Descendants in other sessions have their own supervisor. Never accesses a file that could hang. */
void xc_stall_scan(struct xc_stall *stall, pid_t pid, uint64_t now_ms);

/* The thread that has been blocked longest in this way; NULL: none. Valid until the next scan. */
const struct xc_stalled_thread *xc_stall_longest(const struct xc_stall *stall, enum xc_stall_kind kind);

/* Add the name of what a thread waits for: a path, or words like "standard input"; nothing when it is unknown. May hang
 * too, so call it in a process that can be abandoned. */
void xc_stall_describe(const struct xc_stalled_thread *stalled, struct xc_text *text);

void xc_stall_fini(struct xc_stall *stall);

/* The children of a process. Malloc'ed, ends with 0. Empty where the kernel hides them. */
pid_t *xc_stall_children(pid_t pid);

#endif
