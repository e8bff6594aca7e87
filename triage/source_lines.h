/* source_lines: a few lines of a source file round one line, when the file is present. */
#ifndef XC_SOURCE_LINES_H
#define XC_SOURCE_LINES_H

#include "../core/finder.h"

/* Lines `line` - around to `line` + around of the file, numbered, the line itself marked with an arrow, without the
 * indentation that all of them have; malloc'ed, escaped. At most 10 round it are given.
 * NULL when the file cannot be opened below root (NULL: "/"), is larger than 64 MiB or has no such line. */
char *xc_source_lines(const char *root, const char *path, unsigned line, unsigned around);

#endif
