/* thread_view: a thread that did not die, as the rules see one that did. */
#ifndef XC_THREAD_VIEW_H
#define XC_THREAD_VIEW_H

#include "triage/crash/crash_context.h"

/* The crash as it would be if that thread had taken the signal, with at most `most` frames, which are in the report's
 * arena. frame_count is 0 when its registers are not known. */
void xc_thread_view(const struct xc_crash_context *crash, const struct xc_thread *thread, size_t most,
		    struct xc_crash_context *out);

#endif
