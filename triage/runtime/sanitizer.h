/* sanitizer: programs that a sanitizer ended. */
#ifndef XC_SANITIZER_H
#define XC_SANITIZER_H

#include "triage/crash/crash_context.h"

/* Class sanitizer; its kind as the report has it ("heap-use-after-free", "add-overflow"), and the kind of access.
 * False when no sanitizer ended the program. */
bool xc_sanitizer_classify(struct xc_crash_context *crash);

#endif
