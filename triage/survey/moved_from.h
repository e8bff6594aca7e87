/* moved_from: an object that is empty because std::move() gave its content away, and is used all the same. */
#ifndef XC_MOVED_FROM_H
#define XC_MOVED_FROM_H

#include "triage/crash/crash_context.h"

/* For a NULL, a division by zero, an assertion or an exception: where the bad value is in an object of the C++ library,
 * or the blamed line uses one that is empty, and an earlier line of the same function, or of a caller that passed it
 * on, has std::move() of that object or of what it is a part of, and nothing has set it since: the cause says so, as
 * "likely", or as "perhaps" where it was passed to another function since. Reads the source, by the rules of
 * source_lines.h, and tells only its names. Nothing where the source is not available. */
void xc_moved_from_report(struct xc_crash_context *crash);

#endif
