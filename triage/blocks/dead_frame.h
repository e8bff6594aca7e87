/* dead_frame: is an address on a stack, where no variable lives any more? */
#ifndef XC_DEAD_FRAME_H
#define XC_DEAD_FRAME_H

#include "triage/crash/crash_context.h"

/* Is an object of this type (NULL: not known) at the address in the frame of a function that has returned: below the
 * stack pointer of the thread, or over the return address, or a variable, of a function that runs? `holder`: the
 * outermost frame of the crashed stack that has had the pointer; what it called is younger. *sure_out: the
 * stack pointer proves it, as the thread runs on its own stack. *why_out: a sentence, in the report's arena. */
bool xc_dead_frame_at(const struct xc_crash_context *crash, xc_addr addr, const struct xc_type *type, size_t holder,
		      bool *sure_out, const char **why_out);

#endif
