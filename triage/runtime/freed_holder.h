/* freed_holder: functions that work on an object that has been freed: a second destruction of the whole object. */
#ifndef XC_FREED_HOLDER_H
#define XC_FREED_HOLDER_H

#include "triage/crash/crash_context.h"

/* For heap-corruption: an argument of the blamed function, or of one near it, that leads to a free block other than the
 * one that free() was given (0: not known). Reports it and who still refers to it, and adds to the cause. */
void xc_freed_holder_report(struct xc_crash_context *crash, xc_addr given);

/* For a use after free: when a destructor on the crashed stack has an object that begins a freed block, adds to the
 * cause (likely). What deletes itself while it is destroyed is destroyed twice, too; a destructor may also free its
 * object without destroying it again. */
void xc_freed_holder_report_destructor(struct xc_crash_context *crash);

#endif
