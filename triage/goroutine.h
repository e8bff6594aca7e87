/* goroutine: which one it is, where it stands, what it waits for. */
#ifndef XC_GOROUTINE_H
#define XC_GOROUTINE_H

#include "../dwarf/goruntime.h"
#include "inquiry.h"

/* Is the innermost function of a place Go's run-time, or by its source the standard library's? root is as xc_goroutine_root gives it. */
bool xc_goroutine_library(const struct xc_place *place, size_t level, const char *root);

/* Where the sources of Go's library are ("/usr/lib/go/src/"), by the crashed stack, in the report's arena; NULL when no frame tells. */
const char *xc_goroutine_root(const struct xc_inquiry *q);

/* Blame the innermost function from frames[index] outward that is neither the run-time's nor the standard library's; without one the innermost
 * that is not the run-time's. */
void xc_goroutine_blame(struct xc_inquiry *q, size_t index);

/* Evidence: its number, and who started it. */
void xc_goroutine_tell(const struct xc_inquiry *q, const struct xc_goruntime *go, xc_addr g);

/* All goroutines wait: evidence of what the first of them wait for, and where. The frames of the first one, mostly main's, become those of
 * the inquiry, and it is blamed. */
void xc_goroutine_tell_all(struct xc_inquiry *q, const struct xc_goruntime *go);

/* Go on with the frames from frames[index] outward: those before it are the run-time's. */
void xc_goroutine_begin_at(struct xc_inquiry *q, size_t index);

#endif
