/* callcycle: the functions of a recursion's round, as people are told of them. */
#ifndef XC_CALLCYCLE_H
#define XC_CALLCYCLE_H

#include "triage/stack/stackuse.h"

/* A stack whose period is not 0. Positions count callers first, and go round: that of the period is the first again. */
struct xc_callcycle {
	const struct xc_inquiry *q;
	const struct xc_stackuse *use;
	size_t start; /* position that is told first */
};

/* A function's name for people, or where it is; of a library's templates without their arguments. Appends. */
void xc_callcycle_name(const struct xc_inquiry *q, const struct xc_stackuser *user, struct xc_text *text);

/* Choose the start, so that a cycle is told alike wherever it was entered: a function of the program, by the smallest names. */
void xc_callcycle_rotate(struct xc_callcycle *cycle);

/* The function at a position behind the start. */
const struct xc_stackuser *xc_callcycle_user(const struct xc_callcycle *cycle, size_t position);

/* Is it one of the cycle's, by its name? Its first call may not be inlined as the others are. */
bool xc_callcycle_has(const struct xc_callcycle *cycle, const struct xc_stackuser *user);

uint64_t xc_callcycle_rounds(const struct xc_callcycle *cycle);

/* Append "f → g → h", the longest ones cut. */
void xc_callcycle_tell(const struct xc_callcycle *cycle, struct xc_text *text);

/* The same of the program's functions alone; returns how many there are, and tells of the first one (of a library) that is left out. */
size_t xc_callcycle_tell_own(const struct xc_callcycle *cycle, struct xc_text *text,
			     const struct xc_stackuser **through_out);

#endif
