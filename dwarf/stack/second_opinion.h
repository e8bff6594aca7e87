/* second_opinion: libunwind walks the same stack over xcore's address space, and each frame on which the two differ
 * says so.
 *
 * libunwind is opened when it is asked for; xcore works without it. It takes call frame information from
 * .eh_frame_hdr alone and follows the frame pointer where there is none, so a difference is not always its merit. */
#ifndef XC_SECOND_OPINION_H
#define XC_SECOND_OPINION_H

#include "core/process/process.h"
#include "core/report/report.h"

struct xc_second_opinion;

/* Open libunwind for a process. Errors: XC_ERR_UNSUPPORTED: it is not installed, xcore was built without its headers,
 * or the process is of a machine other than x86-64. */
XC_MUST_CHECK struct xc_error *xc_second_opinion_open(struct xc_process *process, struct xc_second_opinion **out);
void xc_second_opinion_close(struct xc_second_opinion *opinion); /* NULL is fine */

/* Set `opinion` of the rows of a thread's stack: XC_OPINION_SAME, or what libunwind found instead. Frames are compared
 * by pc and stack pointer; inlined functions, tail calls and guests have no opinion, and frames beyond libunwind's
 * 4,096th. Texts live in the arena. */
void xc_second_opinion_apply(struct xc_second_opinion *opinion, const struct xc_thread *thread, struct xc_stack *stack,
			     struct xc_arena *arena);

#endif
