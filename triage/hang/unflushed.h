/* unflushed: what the program has written to a stream of the C library, and that never left it. */
#ifndef XC_UNFLUSHED_H
#define XC_UNFLUSHED_H

#include "triage/crash/crash_context.h"

/* Report as evidence, for a process that waits to read from another one: streams that still hold bytes, the variable
 * that has the stream, and their text. At most three; none of the standard streams. glibc on x86-64. */
void xc_unflushed_report(struct xc_crash_context *crash);

#endif
