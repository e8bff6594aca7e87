/* frame_value: expressions of the source, in a function of the crashed stack. */
#ifndef XC_FRAME_VALUE_H
#define XC_FRAME_VALUE_H

#include "dwarf/value/value.h"
#include "triage/crash/crash_context.h"

/* Evaluate a text (cexpr.h) in a level of frames[frame]; *out is the object itself where it is a reference. False when
 * it cannot be, or is optimized out. */
bool xc_frame_value_of(const struct xc_crash_context *crash, size_t frame, size_t level, const char *text,
		       struct xc_value *out);

#endif
