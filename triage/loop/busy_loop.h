/* busy_loop: what the loop waits for in which a thread runs. */
#ifndef XC_BUSY_LOOP_H
#define XC_BUSY_LOOP_H

#include "triage/crash/crash_context.h"

struct xc_busy_loop {
	const struct xc_place *place;
	size_t level, frame; /* of the innermost function of the program that is in a loop */
	const char *ends;    /* "`q->head` (7) and `q->tail` (5)": what it compares; NULL: not known */
	bool endless;        /* its code has no way out */
	bool still;          /* nothing in it changes what could end it */
	bool shared;         /* what could end it is in memory that other processes may have, too */
};

/* Look at the first functions of the program, outward from the innermost. `view` is the crash context of the thread
 * that runs. False when none is in a loop. */
bool xc_busy_loop_find(const struct xc_crash_context *view, struct xc_busy_loop *out);

/* Append "that ends only by `j->done` (0), which nothing in it changes"; false, with nothing appended, when no more is
 * known than the loop. */
bool xc_busy_loop_describe(const struct xc_busy_loop *loop, struct xc_text *text);

#endif
