/* phase: did it happen before main(), or after it: while static objects are constructed or destroyed? */
#ifndef XC_PHASE_H
#define XC_PHASE_H

#include "triage/crash/crash_context.h"

/* Evidence, and for classes that may follow from it a part of the cause: the crashed thread constructs static objects,
 * or runs exit handlers or destructors of static objects; or another thread does the latter, while this one goes on.
 * Nothing else. The class must be set. Unwinds the other threads, at most 64. */
void xc_phase_report(struct xc_crash_context *crash);

#endif
