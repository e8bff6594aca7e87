/* source_lines: lines of source files that are available. */
#ifndef XC_SOURCE_LINES_H
#define XC_SOURCE_LINES_H

#include "core/process/finder.h"

/* Lines `line` - around to `line` + around of the file, numbered, with an arrow at the line itself, and without the
 * indentation that all of them share; malloc'ed, escaped. `around` is at most 10. NULL when the file cannot be opened
 * below root (NULL: "/"), is larger than 64 MiB or has no such line. */
char *xc_source_lines(const char *root, const char *path, unsigned line, unsigned around);

/* Single lines for listings; the files are kept open. */
struct xc_source_reader;

struct xc_source_reader *xc_source_reader_new(const char *root); /* borrowed; NULL: "/" */
void xc_source_reader_free(struct xc_source_reader *reader);

/* A line without its indentation, not escaped, cut at 240 columns; borrowed until the next call. NULL when it is not
 * available, as above. O(1) once a file was read; 64 files are kept. */
const char *xc_source_reader_line(struct xc_source_reader *reader, const char *path, unsigned line);

#endif
