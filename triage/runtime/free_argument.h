/* free_argument: what free(), realloc() or delete was given when the C library found the heap damaged. */
#ifndef XC_FREE_ARGUMENT_H
#define XC_FREE_ARGUMENT_H

#include "triage/crash/crash_context.h"

/* Add to a heap-corruption's verdict: the pointer, what the function calls it (verdict->expression), and, with a heap, what it leads to.
 * Nothing when the blamed function did not call one of them, or its argument is not known. What the message leaves open, double free or
 * damage, is settled by what the heap knows of the pointer. */
void xc_free_argument_report(struct xc_crash_context *crash);

#endif
