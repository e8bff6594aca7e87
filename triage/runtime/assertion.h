/* assertion: what an assertion that failed says, and the values of what it speaks of. */
#ifndef XC_ASSERTION_H
#define XC_ASSERTION_H

#include "triage/crash/crash_context.h"

/* A failed assert(), g_assert(), _GLIBCXX_ASSERTIONS: the class, the asserted text as verdict->expression, the values of its variables in
 * the function that asserted as evidence. False when the program did not die of one. */
bool xc_assertion_classify(struct xc_crash_context *crash);

#endif
