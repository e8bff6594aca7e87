/* moved_text: std::move() in the source of a function: of what, and whether it reaches a later line of the same
 * function unchanged. */
#ifndef XC_MOVED_TEXT_H
#define XC_MOVED_TEXT_H

#include "triage/source/source_code.h"

/* A call of std::move(): its argument is the tokens [begin, end). */
struct xc_moved_text {
	size_t begin, end;
	unsigned line;
};

/* The next std::move() at or after *at, before `until`, of a variable, or of a member or element of one; *at moves past
 * it. */
bool xc_moved_text_next(const struct xc_source_code *code, size_t *at, size_t until, struct xc_moved_text *out);

enum xc_moved_state {
	XC_MOVED_AWAY,   /* the code at `until` is in another branch, or control leaves in between */
	XC_MOVED_AGAIN,  /* it is set, or a method that may change it is called, in between */
	XC_MOVED_PASSED, /* it is passed to a function in between, which may change it */
	XC_MOVED_LIKELY, /* nothing in between is known to change it */
};

/* What becomes of the moved object up to the token `until`, which runs after it. */
enum xc_moved_state xc_moved_text_state(const struct xc_source_code *code, const struct xc_moved_text *moved,
					size_t until);

/* Is it written in the tokens [begin, end), other than as an argument of std::move()? */
bool xc_moved_text_used(const struct xc_source_code *code, const struct xc_moved_text *moved, size_t begin, size_t end);

#endif
