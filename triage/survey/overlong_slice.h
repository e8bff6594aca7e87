/* overlong_slice: a slice, span or view that refers to more elements than the memory that it points into has. */
#ifndef XC_OVERLONG_SLICE_H
#define XC_OVERLONG_SLICE_H

#include "triage/crash/crash_context.h"

/* Of an access behind the end of a heap block: the slice (of Rust or Go), std::span, std::string_view or other
 * contiguous container that the crashed functions have, and that begins in a live block and claims to go on to the
 * fault. Evidence, the expression, and the cause: likely its length is wrong. In C: a structure's pointer to a block of
 * numbers or bytes, and a number of that structure, or of one in it, that is named as a count: evidence, as "perhaps".
 * Nothing when there is none, or the heap was not walked. */
void xc_overlong_slice_report(struct xc_crash_context *crash);

#endif
