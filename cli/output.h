/* output: where the answer goes, all of it or nothing.
 *
 * A named file is written under no name (O_TMPFILE, else a temporary name) and takes its name only when everything was written, so a failed
 * or killed run leaves nothing behind and an older file stays whole. When it may be shared it has the owner and the rights of the one that it
 * replaces, otherwise neither: who may read an old report may not read what memory holds.
 * What exists and is not a regular file (/dev/full, a FIFO) is written to directly: replacing it would destroy it. To the file that
 * $GITHUB_STEP_SUMMARY names the whole is appended at the end, on a line of its own: what else the step says is there, or comes by a descriptor
 * that is open. */
#ifndef XC_OUTPUT_H
#define XC_OUTPUT_H

#include <stdio.h>

#include "core/base/error.h"
#include "core/base/text.h"

struct xc_output {
	FILE *file;      /* write here */
	char *path;      /* the name it shall get, links resolved; NULL for standard output */
	char *directory; /* of path; NULL for standard output and for what is written directly */
	char *temporary; /* name of the temporary file; NULL when it has none */
	int fd;
	bool appends;        /* at commit, to the summary of a step */
	struct xc_text held; /* until then */
	size_t before;       /* bytes that the summary had when it was opened; else 0 */
	int failed;          /* errno of the first write that failed, else 0 */
};

/* path NULL or "-": standard output. A file is shared, for whom the umask or the older file lets, or for us alone. Errors name the path. */
XC_MUST_CHECK struct xc_error *xc_output_open(struct xc_output *output, const char *path, bool shared);

/* Before anything is written: a file that was opened shared is for us alone. What is written to directly, or appended to, stays as it is. Errors:
 * XC_ERR_IO and others with path and cause. */
XC_MUST_CHECK struct xc_error *xc_output_unshare(const struct xc_output *output);

/* Flush and give the file its name. Errors: XC_ERR_IO and others with path and cause. Closes in every case. */
XC_MUST_CHECK struct xc_error *xc_output_commit(struct xc_output *output);

/* Close and leave nothing behind. Fine after commit, and on a zeroed struct. */
void xc_output_abandon(struct xc_output *output);

/* The first write error as an error, or NULL when all writes went well so far. */
struct xc_error *xc_output_error(const struct xc_output *output);

/* True when writing failed because the reader of a pipe went away (`| head`): no fault of anybody. */
bool xc_output_unread(const struct xc_output *output);

/* A line to standard error, beside the answer: "xcore: " and the words, which may quote names of files: escaped as reports are. */
void xc_output_report(const char *format, ...) XC_PRINTF(1, 2);

/* Colour for `when` (auto, always, never or NULL), and the columns to fit: the terminal's, else 100. */
bool xc_output_color(const struct xc_output *output, const char *when);
unsigned xc_output_width(const struct xc_output *output);

#endif
