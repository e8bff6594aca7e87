/* assertion: the text of a failed assertion, and the values of its variables. */
#ifndef XC_ASSERTION_H
#define XC_ASSERTION_H

#include "triage/crash/crash_context.h"

/* Class assertion, for a failed assert(), g_assert() or _GLIBCXX_ASSERTIONS: the asserted text as
 * verdict->expression, the values of its variables in the asserting function as evidence. False when no assertion
 * failed. */
bool xc_assertion_classify(struct xc_crash_context *crash);

#endif
