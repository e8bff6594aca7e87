/* output: the destination of a report; all of it is written, or nothing.
 *
 * A named file is written without a name (O_TMPFILE, else under a temporary name) and gets its name only when
 * everything was written, so a failed or killed run leaves nothing behind, and an older file stays whole. If it may
 * be shared it gets the owner and mode of the file that it replaces, otherwise not: a reader of an old report may
 * not be allowed to read the target's memory. An existing path that is not a regular file (/dev/full, a FIFO) is
 * written to directly: replacing it would destroy it. What another user planted at the path (planted.h) is refused. To
 * the file that $GITHUB_STEP_SUMMARY names the report is appended at the end, on a new line, because the step has other
 * output there, possibly through an open descriptor. */
#ifndef XC_OUTPUT_H
#define XC_OUTPUT_H

#include <stdio.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/base/text.h"

struct xc_output {
	FILE *file;      /* write here: text; control characters become \xNN, whoever writes them */
	char *path;      /* its final name, links resolved; NULL for standard output */
	char *directory; /* of path; NULL for standard output and for files that are written directly */
	char *temporary; /* name of the temporary file; NULL when it has none */
	int fd;
	bool shared;         /* at commit, it is made readable as `access` tells */
	bool replaces;       /* a file, of which `access` has owner and mode */
	struct stat access;  /* else its mode alone; 0: as it is opened, by umask and default ACL */
	bool appends;        /* at commit, to the summary of a step */
	struct xc_text held; /* until then */
	bool colored;        /* colour codes pass */
	bool binary;         /* every byte passes */
	unsigned char last;  /* the byte written last: 0xc2 may begin a control character */
	size_t before;       /* bytes that the summary had when it was opened; else 0 */
	int failed;          /* errno of the first write that failed, else 0 */
};

/* path NULL or "-": standard output. shared: readable as the umask or the older file allows, once it is complete; else
 * mode 0600. Errors name the path. */
XC_MUST_CHECK struct xc_error *xc_output_open(struct xc_output *output, const char *path, bool shared);

/* Before commit: a file that was opened shared gets mode 0600 after all. Files that are written directly or appended to
 * stay as they are. */
void xc_output_unshare(struct xc_output *output);

/* Flush and give the file its name. Errors: XC_ERR_IO and others with path and cause. Closes in every case. */
XC_MUST_CHECK struct xc_error *xc_output_commit(struct xc_output *output);

/* Close and remove the temporary file. May be called after commit, and on a zeroed struct. */
void xc_output_abandon(struct xc_output *output);

/* The first write error, or NULL when all writes so far succeeded. */
struct xc_error *xc_output_error(const struct xc_output *output);

/* Did writing fail because the reader closed the pipe (`| head`)? That is not an error. */
bool xc_output_unread(const struct xc_output *output);

/* Use colour, by `when` (auto, always, never or NULL)? The width in columns: the terminal's, else 100. */
bool xc_output_color(const struct xc_output *output, const char *when);
unsigned xc_output_width(const struct xc_output *output);

/* Is it a terminal? And: clear it, and write from its upper left corner on. */
bool xc_output_is_terminal(const struct xc_output *output);
void xc_output_clear(const struct xc_output *output);

#endif
