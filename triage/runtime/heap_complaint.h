/* heap_complaint: aborts for which the C library reported damage of its heap. */
#ifndef XC_HEAP_COMPLAINT_H
#define XC_HEAP_COMPLAINT_H

#include "triage/crash/crash_context.h"

/* Class heap-corruption, its kind by the abort message: "double free", "overrun", "underrun", "bad pointer", "list
 * damage". False when the message reports no such damage. */
bool xc_heap_complaint_classify(struct xc_crash_context *crash);

#endif
