/* own_line: the source line of a function of the program, where an optimizer left code of an inlined library function
 * in it: the line table then names a header of the library, and no entry tells of the inlined call. */
#ifndef XC_OWN_LINE_H
#define XC_OWN_LINE_H

#include "dwarf/symbolize/debuginfo.h"

struct xc_own_line {
	const char *file; /* lives as long as the process */
	unsigned line;
	bool nearest; /* the place itself is in a library's header; this is the line of the nearest code around it */
};

/* The line of a level of the place. Where it is one of a library's header, in a function that is in another file: the
 * line of that file that the line table has for the place, too; else that of the nearest code before it, else after it,
 * that is of the same function and file, and of no call that was inlined there. Where there is none within some hundred
 * bytes: the level's line as it is. False when that is not known. */
bool xc_own_line_find(const struct xc_process *process, const struct xc_place *place, size_t level,
		      struct xc_own_line *out);

/* Where the source of a function begins, in the file of a line of it; 0: not known, or it begins in another file. */
unsigned xc_own_line_begin(const struct xc_process *process, const struct xc_level *level, const char *file);

#endif
