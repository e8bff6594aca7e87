/* freed_by: who freed a block that was used after: a function that passed its pointer on, and had called free() before that. */
#ifndef XC_FREED_BY_H
#define XC_FREED_BY_H

#include "triage/crash/crash_context.h"

/* Of a pointer (crash->pointer) into a freed block of so many bytes (begin 0: it is not known which): blame the innermost of the functions that passed it
 * on and gave memory back before that can be the block, and say so. One that did so on some ways only is named, not blamed. Nothing
 * changes when none did, or the blamed one did itself. x86-64. */
void xc_freed_by_report(struct xc_crash_context *crash, xc_addr begin, uint64_t size);

#endif
