/* array_bounds: elements that an array of known size, or a block of the heap, does not have: what was read there
 * belongs to something else. */
#ifndef XC_ARRAY_BOUNDS_H
#define XC_ARRAY_BOUNDS_H

#include "core/base/text.h"
#include "triage/crash/crash_context.h"

/* Append "the index `c->state` is 5, one past the last of the 5 elements of `engine.handlers`; the bytes there are of
 * `engine.ticks`" where an expression, as the code of frames[frame] writes it, is an element outside of its array. at:
 * where the code accessed it. With `blocks`, of a pointer to the beginning of a block, too: "the index `i` is -1,
 * before the beginning of `t->cols`, a block of 120 bytes". Arrays that may be longer than declared, at the end of a
 * block of the heap, do not count. False when it is not so, or not known; then nothing is appended. */
bool xc_array_bounds_report(const struct xc_crash_context *crash, size_t frame, const char *expression, xc_addr at,
			    bool blocks, struct xc_text *out);

#endif
