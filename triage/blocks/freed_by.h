/* freed_by: the function that freed a block before its use: it passed the pointer on, and had called free() before. */
#ifndef XC_FREED_BY_H
#define XC_FREED_BY_H

#include "triage/crash/crash_context.h"

/* For a pointer (crash->pointer) into a freed block of so many bytes (begin 0: not known which): blame the innermost
 * function that passed the pointer on and, before that, freed memory that can be the block. Report it. One that
 * frees only on some paths is named, not blamed. Changes nothing when there is none, or when the blamed function did
 * it itself. x86-64. */
void xc_freed_by_report(struct xc_crash_context *crash, xc_addr begin, uint64_t size);

#endif
