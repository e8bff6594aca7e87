/* bad_descriptor: a program that ended itself after a call had failed with EBADF: which descriptor it likely was, and
 * who else has the same number. */
#ifndef XC_BAD_DESCRIPTOR_H
#define XC_BAD_DESCRIPTOR_H

#include "triage/crash/crash_context.h"

/* Evidence, and a cause that begins with "likely", where errno is EBADF and the blamed function, or an object that a
 * variable of it leads to, has one number that is named as a descriptor. A core has no table of descriptors: that the
 * number was closed is not seen. Nothing for other classes than assertion, abort, terminate and uncaught-exception. */
void xc_bad_descriptor_report(struct xc_crash_context *crash);

#endif
