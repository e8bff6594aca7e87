/* runner_impl: what the two ends of a run share: the run itself, and the frames that bring its answer home.
 *
 *	frame   kind (1 byte), length (4 bytes, little-endian), that many bytes
 *	LINE    a printed line, as it is       REPORT  part of what report_wire writes
 *	ENDED   a struct xc_ending: comes last, else the child died */
#ifndef XC_RUNNER_IMPL_H
#define XC_RUNNER_IMPL_H

#include <sys/types.h>

#include "core/base/text.h"
#include "lua/runner/runner.h"

enum xc_frame_kind { XC_FRAME_LINE = 1, XC_FRAME_REPORT, XC_FRAME_ENDED };
enum { XC_FRAME_HEAD = 5, XC_FRAME_MOST = 1 << 30 };

/* How a run ended, and what it used. */
struct xc_ending {
	struct xc_error *err; /* owned; NULL: all went well */
	uint64_t instructions, memory;
};

/* runner_child.c: do the run with a host of its own into `report`; nothing comes out of it but by the arguments. */
void xc_runner_perform(const struct xc_run *run, struct xc_report *report, xc_output_fn *output, void *user,
		       struct xc_ending *ending);

/* The same in a new child: does not return. The answer goes to fd; the child ends with its parent. */
_Noreturn void xc_runner_child(const struct xc_run *run, int fd, pid_t parent);

/* An ending from its bytes, as the child writes them. Errors: XC_ERR_FORMAT. */
XC_MUST_CHECK struct xc_error *xc_runner_read_ending(const void *bytes, size_t len, struct xc_ending *ending_out);

/* runner_collect.c: what comes out of the pipe. */
struct xc_collected {
	const struct xc_run *run;
	struct xc_text bytes;  /* not yet a whole frame */
	struct xc_text report; /* so far */
	struct xc_text lines;  /* ANALYZE: printed so far */
	uint64_t printed;      /* bytes of lines that were kept */
	struct xc_ending ending;
	bool ended;           /* the last frame came */
	bool streamed;        /* a line went to run->stream */
	bool unread;          /* nobody reads run->stream any more */
	struct xc_error *err; /* what came is not as it should be */
};

void xc_runner_line(void *collected, const char *line, size_t len); /* an xc_output_fn */

/* Read until the end of the pipe, or until nothing more is wanted. */
void xc_runner_collect(struct xc_collected *c, int fd);
void xc_runner_collected_fini(struct xc_collected *c);

#endif
