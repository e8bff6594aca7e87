/* copy_call: memcpy() or a related function died because it was given more bytes than an object has, or a negative
 * length. */
#ifndef XC_COPY_CALL_H
#define XC_COPY_CALL_H

#include "triage/crash/crash_context.h"

/* A fault in a function of the C library that copies or fills so many bytes: evidence of the length, and of where in it
 * the access was. Where the object that it was given is known and smaller, or the length is negative, this is the
 * cause, and crash->outside is set: the page that ended it says nothing. Nothing where an argument is not known.
 * x86-64. */
void xc_copy_call_report(struct xc_crash_context *crash);

#endif
