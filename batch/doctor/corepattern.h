/* corepattern: describes /proc/sys/kernel/core_pattern (core(5), and the kernel's
 * Documentation/admin-guide/sysctl/kernel.rst). */
#ifndef XC_COREPATTERN_H
#define XC_COREPATTERN_H

#include "core/base/text.h"

enum xc_corepattern_kind {
	XC_COREPATTERN_NONE,     /* empty: nothing is written without core_uses_pid */
	XC_COREPATTERN_RELATIVE, /* a file in the working directory of the process */
	XC_COREPATTERN_ABSOLUTE,
	XC_COREPATTERN_PIPE,   /* to a program */
	XC_COREPATTERN_SOCKET, /* to a listening socket, since Linux 6.16 */
};

enum xc_corepattern_kind xc_corepattern_kind(const char *pattern);

/* Appends the pattern with words for the specifiers: "core.PROGRAM.PID"; unknown ones are dropped, as by the kernel. */
void xc_corepattern_words(const char *pattern, struct xc_text *out);

/* Do two crashes of one program get different names? */
bool xc_corepattern_distinct(const char *pattern, bool uses_pid);

/* The program of a pipe, or the directory of an absolute file before the first specifier; malloc'ed; NULL for other
 * patterns. */
char *xc_corepattern_place(const char *pattern);

#endif
