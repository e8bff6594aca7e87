/* namelist: names of files, as `find` and `ls` write them: a name a line, or, where there is a NUL byte in it, parted by those. Of lines,
 * ends as Windows writes them (CR LF) and its mark of UTF-8 at the begin are no part of a name; names that hold such need NUL bytes. */
#ifndef XC_NAMELIST_H
#define XC_NAMELIST_H

#include "core/base/arena.h"
#include "core/base/error.h"

enum { XC_NAMELIST_MAX = 10 * 1000 * 1000 };

struct xc_namelist {
	struct xc_arena arena;
	const char **names; /* in the order of the list, empty ones left out */
	size_t count, capacity;
	bool exact; /* they were parted by NUL bytes: a program wrote them, and they are no patterns (wildcard.h) */
};

/* Add one, copied. Errors: XC_ERR_LIMIT with more than XC_NAMELIST_MAX of them. */
XC_MUST_CHECK struct xc_error *xc_namelist_add(struct xc_namelist *list, const char *name);

/* Add what stands in a regular file; "-" is standard input. Errors: those of xc_textfile_open and of reading, XC_ERR_FORMAT with its number
 * for a name longer than the kernel takes, XC_ERR_LIMIT as above: empty names count. */
XC_MUST_CHECK struct xc_error *xc_namelist_read(struct xc_namelist *list, const char *path);

/* In order, each once. */
void xc_namelist_settle(struct xc_namelist *list);

void xc_namelist_fini(struct xc_namelist *list);

#endif
