/* stall_calls: what stall.c, which sees that a thread waits, and stall_name.c, which tells for what, share. */
#ifndef XC_STALL_CALLS_H
#define XC_STALL_CALLS_H

#include <limits.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { XC_STALL_ARGUMENTS = 6, XC_STALL_NO_ARGUMENT = -1 };

/* Which arguments say what a call is about: a descriptor, of a directory where there is a path, too. */
struct xc_stall_call {
	long number;
	int descriptor, path;
};

/* NULL: one that is about no file, or about none that can be told. */
const struct xc_stall_call *xc_stall_call(const char *line, uint64_t arguments[XC_STALL_ARGUMENTS]);

/* The name of a descriptor of a process; "" where there is none. Asks the kernel only: to ask the file itself may hang. */
void xc_stall_descriptor(pid_t pid, int fd, char name[PATH_MAX]);

/* Is it the name of a file, not of a pipe, a terminal, a device? */
bool xc_stall_is_file(const char *name);

/* As read(2) of a file of /proc, with a NUL; false when there is nothing. */
bool xc_stall_read(char *text, size_t size, const char *format, ...) XC_PRINTF(3, 4);

#endif
