/* backtrace: the stacks of a report: unwinding, inline frames, lines, arguments and locals together. */
#ifndef XC_BACKTRACE_H
#define XC_BACKTRACE_H

#include "core/report/report.h"
#include "core/report/stacktree.h"
#include "dwarf/format/format.h"
#include "dwarf/unwind/unwind.h"

enum xc_thread_choice {
	XC_THREADS_CRASHED,
	XC_THREADS_ALL,
	XC_THREADS_ONE,
	XC_THREADS_OTHERS, /* all but the crashed one */
};

struct xc_backtrace_options {
	enum xc_thread_choice choice;
	pid_t tid;         /* for XC_THREADS_ONE */
	bool args, locals; /* evaluate them */
	bool group;        /* fold threads with equal stacks */
	bool detached;     /* guests' stacks that stand on no thread too (foreign_frame.h) */
	bool brief;        /* stacks that differ only in depths of recursion are equal; see struct xc_stacks */
	size_t max_frames; /* rows kept per stack (half innermost, half outermost); 0 means 1,024 */
	struct xc_format_options format;
};

/* What was told of guests (foreign_frame.h) is merged in, and who failed to tell is a note of the first section that is made.
 * Add a `stacks` item to the section. Problems become stop reasons and notes; only a thread that does not
 * exist is an error (XC_ERR_NOT_FOUND). */
XC_MUST_CHECK struct xc_error *xc_backtrace(struct xc_section *section, struct xc_process *process,
					    const struct xc_backtrace_options *options);

/* All threads' stacks as a tree for flame graphs: one unit of weight per thread. */
void xc_backtrace_tree(struct xc_stacktree *tree, struct xc_process *process);

#endif
