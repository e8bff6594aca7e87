/* large_frame: the reason why one frame of a stack is large. */
#ifndef XC_LARGE_FRAME_H
#define XC_LARGE_FRAME_H

#include "triage/crash/crash_context.h"

/* The size of frames[index], which takes so many bytes, by the code of its function, when that is most of it. 0: the
 * size is computed at run time. *known_out: all of the code was read. */
uint64_t xc_large_frame_coded(const struct xc_crash_context *crash, size_t index, uint64_t bytes, bool *known_out);

/* The local variable that takes most of the frame's bytes, and its size; NULL when none does. Lives as long as the
 * report. */
const char *xc_large_frame_local(const struct xc_crash_context *crash, size_t index, uint64_t bytes,
				 uint64_t *size_out);

#endif
