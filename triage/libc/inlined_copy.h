/* inlined_copy: copies and fills that the compiler wrote as one repeated instruction died of a negative length. */
#ifndef XC_INLINED_COPY_H
#define XC_INLINED_COPY_H

#include "triage/crash/crash_context.h"

/* A fault in a repeated instruction (rep movs, rep stos) that has more bytes left than half of all memory: the cause is
 * the length, and crash->outside is set, because the page that ended it says nothing. The length is named where a
 * number of the function has that value. Nothing for other faults. x86-64. */
void xc_inlined_copy_report(struct xc_crash_context *crash);

#endif
