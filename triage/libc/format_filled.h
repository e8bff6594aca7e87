/* format_filled: a message as it was printed: the text of a format with the arguments of its call. */
#ifndef XC_FORMAT_FILLED_H
#define XC_FORMAT_FILLED_H

#include "triage/crash/crash_context.h"

/* The unfinished call of frames[frame] passed `text` as a format to a function with variable arguments: the text with
 * what can be told of them: "pool: buffer 5 released twice". Numbers and texts; what is not known, such as
 * floating-point numbers, stays as the format has it. In the report's arena. NULL: nothing of it is known, or no
 * argument was that text. x86-64. */
const char *xc_format_filled(const struct xc_crash_context *crash, size_t frame, const char *text);

#endif
