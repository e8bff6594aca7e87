/* wrong_object: what a program that nothing caught an exception of was working on: an object of another class, or one
 * that is not valid. */
#ifndef XC_WRONG_OBJECT_H
#define XC_WRONG_OBJECT_H

#include "triage/crash/crash_context.h"

/* For uncaught exceptions, allocations that failed, and failed assertions: looks at the arguments of the innermost
 * functions of the program, and at their local pointers and references that were set. The cause says "likely a wrong
 * cast" when one leads to an object of another class, by its vtable, and which function still had it as what it is; and
 * "likely because" when a string or container there is not valid, with what its size is as evidence. Severity is at
 * least medium then. Objects whose constructor or destructor is on the stack are left out: their members, and their
 * class, are not what they will be. Nothing else. */
void xc_wrong_object_report(struct xc_crash_context *crash);

#endif
