/* runner_impl: shared by the two ends of a run: the run itself, and the frames that carry its results.
 *
 *	frame   kind (1 byte), length (4 bytes, little-endian), that many bytes
 *	LINE    a printed line                 REPORT  part of the output of report_wire
 *	ENDED   a struct xc_ending: the last frame; without it the child died */
#ifndef XC_RUNNER_IMPL_H
#define XC_RUNNER_IMPL_H

#include <sys/types.h>

#include "core/base/text.h"
#include "lua/runner/runner.h"

enum xc_frame_kind { XC_FRAME_LINE = 1, XC_FRAME_REPORT, XC_FRAME_ENDED };
enum { XC_FRAME_HEAD = 5, XC_FRAME_MOST = 1 << 30 };

/* The end of a run, and the resources that it used. */
struct xc_ending {
	struct xc_error *err; /* owned; NULL: success */
	uint64_t instructions, memory;
};

/* runner_child.c: do the run with its own host, into `report`; results come only through the arguments. */
void xc_runner_perform(const struct xc_run *run, struct xc_report *report, xc_output_fn *output, void *user,
		       struct xc_ending *ending);

/* The same in a new child: does not return. The results go to fd; the child ends with its parent. */
_Noreturn void xc_runner_child(const struct xc_run *run, int fd, pid_t parent);

/* An ending from its bytes, as the child writes them. Errors: XC_ERR_FORMAT. */
XC_MUST_CHECK struct xc_error *xc_runner_read_ending(const void *bytes, size_t len, struct xc_ending *ending_out);

/* runner_collect.c: the data from the pipe. */
struct xc_collected {
	const struct xc_run *run;
	struct xc_text bytes;  /* an incomplete frame */
	struct xc_text report; /* so far */
	struct xc_text lines;  /* ANALYZE: printed so far */
	uint64_t printed;      /* bytes of lines that were kept */
	struct xc_ending ending;
	bool ended;           /* the last frame came */
	bool streamed;        /* a line went to run->stream */
	bool unread;          /* run->stream is no longer read */
	struct xc_error *err; /* the data are damaged */
};

void xc_runner_line(void *collected, const char *line, size_t len); /* an xc_output_fn */

/* Read to the end of the pipe, or until no more data are wanted. */
void xc_runner_collect(struct xc_collected *c, int fd);
void xc_runner_collected_fini(struct xc_collected *c);

#endif
