/* shifted_pointer: a pointer a few bytes behind where its object begins, as a bit that was set in it, or an addition,
 * leaves it. What is read through it is taken from parts of two members. */
#ifndef XC_SHIFTED_POINTER_H
#define XC_SHIFTED_POINTER_H

#include "triage/crash/crash_context.h"

/* Of an access by a bad pointer: a pointer that the crashed functions have, through which a member reads as that
 * bad one, and which lies where no object with pointers in it begins: not at a multiple of a pointer's size.
 * Evidence, the array that ends in front of that pointer, and the cause: likely that pointer was changed. Nothing
 * when there is none. */
void xc_shifted_pointer_report(struct xc_crash_context *crash);

#endif
