/* stall_calls: system calls that may block on a file, and helpers that read /proc. */
#ifndef XC_STALL_CALLS_H
#define XC_STALL_CALLS_H

#include <limits.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { XC_STALL_ARGUMENTS = 6, XC_STALL_NO_ARGUMENT = -1 };

/* The indexes of the arguments that name the file. With both, the descriptor is that of a directory. */
struct xc_stall_call {
	long number;
	int descriptor, path;
};

/* Parse the line of /proc/PID/task/TID/syscall. NULL: the call does not block on files. */
const struct xc_stall_call *xc_stall_call(const char *line, uint64_t arguments[XC_STALL_ARGUMENTS]);

/* The name of a descriptor of a process; "" when there is none. Does not access the file, which could hang. */
void xc_stall_descriptor(pid_t pid, int fd, char name[PATH_MAX]);

/* Is this the name of a file, and not of a pipe, a terminal or a device? */
bool xc_stall_is_file(const char *name);

/* Read a file of /proc as a string. False when it is empty or cannot be read. */
bool xc_stall_read(char *text, size_t size, const char *format, ...) XC_PRINTF(3, 4);

#endif
