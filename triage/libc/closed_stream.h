/* closed_stream: a stream of the C library that is used, or closed, after it was closed. */
#ifndef XC_CLOSED_STREAM_H
#define XC_CLOSED_STREAM_H

#include "triage/crash/crash_context.h"

/* A fault in a function of the C library that was given a stream (FILE *) which is not among its open streams, and
 * whose memory is free, or no stream's any more: the class becomes use-after-free, likely. False where it is not so, or
 * not known. x86-64, glibc. */
bool xc_closed_stream_classify(struct xc_crash_context *crash);

/* For a block that was freed twice: adds to the cause that fclose() was given a stream that it had closed before. */
void xc_closed_stream_explain(struct xc_crash_context *crash);

#endif
