/* busy_loop: what the loop waits for in which a thread runs. */
#ifndef XC_BUSY_LOOP_H
#define XC_BUSY_LOOP_H

#include "triage/code/loop.h"
#include "triage/dataflow/frame_code.h"

struct xc_busy_loop {
	const char *ends; /* "`q->head` (7) and `q->tail` (5)": what it compares; NULL: not known */
	bool floats;      /* a comparison of floating-point numbers could end it */
	bool has_end;     /* its code has a way out */
	bool endless;     /* it has none, and calls nothing */
	bool still;       /* nothing in it changes what could end it */
	bool shared;      /* what could end it is in memory that other processes may have, too */
};

/* Look at the code of a loop around the current instruction of a frame. `ends` is in the report's arena. With `count`,
 * it is what only the branches at these addresses compare. */
void xc_busy_loop_look(const struct xc_frame_code *code, const struct xc_loop *loop, const xc_addr *branches,
		       size_t count, struct xc_busy_loop *out);

/* Append "that ends only by `j->done` (0), which nothing in it changes", "that ends by a comparison of floating-point
 * numbers"; false, with nothing appended, when no more is
 * known than the loop. */
bool xc_busy_loop_describe(const struct xc_busy_loop *loop, struct xc_text *text);

#endif
