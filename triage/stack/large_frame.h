/* large_frame: what makes one frame of a stack large. */
#ifndef XC_LARGE_FRAME_H
#define XC_LARGE_FRAME_H

#include "triage/crash/crash_context.h"

/* The size of frames[index], which takes so many bytes, as its function's code has it, when that is most of what was taken; 0: it is
 * computed as the function runs. *known_out: all of the code was read. */
uint64_t xc_large_frame_coded(const struct xc_crash_context *crash, size_t index, uint64_t bytes, bool *known_out);

/* The local variable that takes most of the frame's bytes, and its size; NULL when none does. Lives as long as the report. */
const char *xc_large_frame_local(const struct xc_crash_context *crash, size_t index, uint64_t bytes,
				 uint64_t *size_out);

#endif
