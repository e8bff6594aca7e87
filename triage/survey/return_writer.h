/* return_writer: a pointer that leads into, or right behind, the return address that something has overwritten. */
#ifndef XC_RETURN_WRITER_H
#define XC_RETURN_WRITER_H

#include "triage/crash/crash_context.h"

/* Of a return to an overwritten address: its changed bytes, when they are text, and a pointer of the objects that the
 * crashed functions have, which leads into that word: nothing legitimate does, so likely it was written through; or a
 * pointer to characters right behind it: perhaps. Evidence and the cause. Nothing when there is none. */
void xc_return_writer_report(struct xc_crash_context *crash);

#endif
