/* passed_argument: which registers a call passed arguments in, by the code before it (System V, x86-64). */
#ifndef XC_PASSED_ARGUMENT_H
#define XC_PASSED_ARGUMENT_H

#include "triage/dataflow/frame_code.h"
#include "triage/libc/format_text.h"

/* Has nothing set the register of argument `number` (0 to 5) before the call at which the frame stands? It has what an
 * earlier call left, or what the frame's function never got. `bad`: of a pointer; then a number that the function got
 * does not count either. */
bool xc_passed_argument_unset(const struct xc_frame_code *code, size_t number, bool bad);

/* What the unfinished call of frames[frame] passed for a conversion of its format, of which `first` is the argument
 * behind the named ones: in a register, or as a word on the stack. False when it is not known. */
bool xc_passed_argument_value(const struct xc_crash_context *crash, size_t frame, size_t first,
			      const struct xc_conversion *conversion, uint64_t *value_out);

/* Does a function of variable arguments run in the frame? Also true when it is not known. */
bool xc_passed_argument_variadic(const struct xc_crash_context *crash, size_t frame);

/* Did the caller of the frame's function call it, and not one that jumped on to it? The frame must have a caller. */
bool xc_passed_argument_called(const struct xc_crash_context *crash, size_t frame);

#endif
