/* namelist: file names as `find` and `ls` write them: one per line, or NUL-terminated if the list contains a NUL byte.
 * In lines, Windows line ends (CR LF) and a UTF-8 byte order mark are not part of a name; names that contain such need
 * NUL bytes. */
#ifndef XC_NAMELIST_H
#define XC_NAMELIST_H

#include "core/base/arena.h"
#include "core/base/error.h"

enum { XC_NAMELIST_MAX = 10 * 1000 * 1000 };

struct xc_namelist {
	struct xc_arena arena;
	const char **names; /* in list order, without empty ones */
	size_t count, capacity;
	bool exact; /* they were NUL-terminated: a program wrote them, and they are not patterns (wildcard.h) */
};

/* Adds a copy of the name. Errors: XC_ERR_LIMIT beyond XC_NAMELIST_MAX names. */
XC_MUST_CHECK struct xc_error *xc_namelist_add(struct xc_namelist *list, const char *name);

/* Adds the names in a regular file; "-" is standard input. Errors: those of xc_textfile_open and of reading;
 * XC_ERR_FORMAT, with the name's number, for a name longer than the kernel accepts; XC_ERR_LIMIT as above, counting
 * empty names. */
XC_MUST_CHECK struct xc_error *xc_namelist_read(struct xc_namelist *list, const char *path);

/* Sorts the names and removes duplicates. */
void xc_namelist_settle(struct xc_namelist *list);

void xc_namelist_fini(struct xc_namelist *list);

#endif
