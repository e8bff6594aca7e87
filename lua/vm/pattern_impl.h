/* pattern_impl: the state of a match, which the matcher (pattern_match.c) and the string functions (pattern.c)
 * share. */
#ifndef XC_PATTERN_IMPL_H
#define XC_PATTERN_IMPL_H

#include <stddef.h>

#include <lauxlib.h>

#include "lua/vm/limit.h"

enum { XC_MATCH_MAX_CAPTURES = 32, XC_MATCH_STEPS_AT_ONCE = 1000, XC_MATCH_BYTES_A_STEP = 16 };

/* In place of the length of a capture: no end yet; a position capture, "()". */
enum { XC_MATCH_OPEN = -1, XC_MATCH_POSITION = -2 };

struct xc_capture {
	const char *start;
	ptrdiff_t len;
};

struct xc_match {
	lua_State *L;
	const char *subject, *end; /* the text that is searched */
	const char *pattern_end;
	unsigned depth;
	size_t steps; /* not charged yet */
	int count;
	struct xc_capture captures[XC_MATCH_MAX_CAPTURES];
};

/* Charge steps to the limits of the run; may raise. */
static inline void xc_match_charge(struct xc_match *m, size_t steps)
{
	m->steps += steps;
	if (m->steps >= XC_MATCH_STEPS_AT_ONCE) {
		xc_limit_spend(m->L, m->steps);
		m->steps = 0;
	}
}

/* Match the pattern from p on at s, without captures from before: the end of the match, or NULL. Raises the errors
 * of the pattern. */
const char *xc_match_at(struct xc_match *m, const char *s, const char *p);

#endif
