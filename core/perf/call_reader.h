/* call_reader: the system calls in which threads are blocked, read from /proc/PID/task/TID/syscall at any time of a
 * run.
 *
 * Behind Landlock the kernel refuses that file (sandbox.h). So a child, forked before, reads it: it does nothing else,
 * is asked through a socket for threads of this one process, and answers in shared memory. It ends with its parent. */
#ifndef XC_CALL_READER_H
#define XC_CALL_READER_H

#include <sys/types.h>

#include "core/base/error.h"

enum { XC_CALL_BATCH = 64 };

/* What the kernel says of a thread. */
struct xc_call_text {
	int error;      /* 0, or an errno: the other members are "" */
	char call[256]; /* "running", or number, arguments, sp and pc (live_facts.c) */
	char file[512]; /* what the first argument is a descriptor of; cut when longer */
};

struct xc_call_reader;

/* Fork the child. task_dir is /proc/PID/task, open, and stays so in the child. Call it before the sandbox and while no
 * other thread runs. Errors: of fork and socketpair. */
XC_MUST_CHECK struct xc_error *xc_call_reader_start(int task_dir, struct xc_call_reader **reader_out);
void xc_call_reader_free(struct xc_call_reader *reader); /* NULL is fine */

/* Read of `count` threads, at most XC_CALL_BATCH. Valid until the next call. NULL: the child is gone. Cost: 20 us, and
 * 10 us for each thread. */
const struct xc_call_text *xc_call_reader_read(struct xc_call_reader *reader, const pid_t *tids, size_t count);

#endif
