/* dead_frame: is an address on a stack, where no variable lives any more? */
#ifndef XC_DEAD_FRAME_H
#define XC_DEAD_FRAME_H

#include "triage/crash/crash_context.h"
#include "triage/dataflow/deref.h"

/* Is the object that the pointer of `deref` leads to in the frame of a function that has returned: below the stack
 * pointer of the thread, or over the return address, or a variable, of a function that runs; or is it `this`, and one
 * of its method's own variables; or does an argument of a caller lead there, to an object of another type? The value of
 * the pointer must be known. Of its holder, the outermost frame that has had the pointer, what that called is younger.
 * *sure_out: the stack pointer proves it, as the thread runs on its own stack. *why_out: a sentence, in the report's
 * arena. */
bool xc_dead_frame_at(const struct xc_crash_context *crash, const struct xc_deref *deref, bool *sure_out,
		      const char **why_out);

#endif
