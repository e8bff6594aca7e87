/* backtrace: the stacks of a report: unwinding, inlined functions, lines, arguments and locals. */
#ifndef XC_BACKTRACE_H
#define XC_BACKTRACE_H

#include "core/report/report.h"
#include "core/report/stacktree.h"
#include "dwarf/format/format.h"
#include "dwarf/unwind/unwind.h"

struct xc_second_opinion;

enum xc_thread_choice {
	XC_THREADS_CRASHED,
	XC_THREADS_ALL,
	XC_THREADS_ONE,
	XC_THREADS_OTHERS, /* all but the crashed one */
	XC_THREADS_NONE,
};

/* A stack of native code that is on no thread: of a goroutine that waits. */
struct xc_parked_stack {
	const char *name, *state;
	struct xc_frame first; /* the innermost frame */
};

struct xc_backtrace_options {
	enum xc_thread_choice choice;
	pid_t tid;                            /* for XC_THREADS_ONE */
	bool args, locals;                    /* evaluate arguments, locals */
	bool group;                           /* fold threads with equal stacks */
	bool detached;                        /* include guest stacks that are on no thread (foreign_frame.h) */
	const struct xc_parked_stack *parked; /* further stacks, after the threads' and before the guests' */
	size_t parked_count;
	bool brief; /* stacks that differ only in recursion depth are equal; see struct xc_stacks */
	struct xc_second_opinion *opinion; /* compare with libunwind (second_opinion.h), of the same process; or NULL */
	const int *first;                  /* threads whose stacks come before the others', in this order */
	size_t first_count;
	size_t max_frames; /* kept of each stack (half innermost, half outermost); 0: 1,024, or fewer where there are
			      many threads, which a message tells */
	struct xc_format_options format;
};

/* Add a `stacks` item to the section. Guest frames (foreign_frame.h) are merged in; failures to read them are notes of
 * the first section. Problems become stop reasons and notes; the only error is a missing thread (XC_ERR_NOT_FOUND). */
XC_MUST_CHECK struct xc_error *xc_backtrace(struct xc_section *section, struct xc_process *process,
					    const struct xc_backtrace_options *options);

/* All threads' stacks as a tree for flame graphs: one unit of weight per thread. */
void xc_backtrace_tree(struct xc_stacktree *tree, struct xc_process *process);

#endif
