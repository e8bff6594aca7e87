/* free_argument: the argument of free(), realloc() or delete when the C library found the heap damaged. */
#ifndef XC_FREE_ARGUMENT_H
#define XC_FREE_ARGUMENT_H

#include "triage/crash/crash_context.h"

/* Add to the verdict heap-corruption: the pointer, its source name (verdict->expression), and, with a heap, its
 * target. Nothing when the blamed function called none of them, or the argument is not known. When the message is
 * ambiguous between double free and damage, the heap decides. */
void xc_free_argument_report(struct xc_crash_context *crash);

/* For a bad access in free() or its like: when its argument is in a module, on a stack, or in the middle of a block in
 * use, that is the cause: heap-corruption (bad pointer), certain for constants, code and stacks. An allocator of the
 * program's own may have blocks in its data, and a damaged header may hide where a block begins. */
void xc_free_argument_report_fault(struct xc_crash_context *crash);

#endif
