/* source_lines: lines of source files that are available. */
#ifndef XC_SOURCE_LINES_H
#define XC_SOURCE_LINES_H

#include "core/process/process.h"

/* Lines `line` - around to `line` + around of the file, numbered, with an arrow at the line itself, and without the
 * indentation that all of them share; malloc'ed, escaped. `around` is at most 10. NULL when the file cannot be opened
 * in a folder that the user trusts (source_roots.h), is larger than 64 MiB or has no such line. */
char *xc_source_lines(const struct xc_process *process, const char *path, unsigned line, unsigned around);

/* Single lines for listings; the files are kept open. */
struct xc_source_reader;

struct xc_source_reader *xc_source_reader_new(const struct xc_process *process); /* borrowed */
void xc_source_reader_free(struct xc_source_reader *reader);

/* A line without its indentation, not escaped, cut at 240 columns; borrowed until the next call. NULL when it is not
 * available, as above, or without a reader. O(1) once a file was read; 64 files are kept. */
const char *xc_source_reader_line(struct xc_source_reader *reader, const char *path, unsigned line);

/* A file of which no line was shown because its folder is not trusted: xc_source_roots_hint of the first one; NULL:
 * there was none. Borrowed. */
const char *xc_source_reader_hint(struct xc_source_reader *reader);

#endif
