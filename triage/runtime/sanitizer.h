/* sanitizer: programs that a sanitizer ended. */
#ifndef XC_SANITIZER_H
#define XC_SANITIZER_H

#include "triage/crash/crash_context.h"

/* The class sanitizer; its kind as the report has it ("heap-use-after-free", "add-overflow"), whether it was a read or a write. False when
 * no sanitizer ended the program. */
bool xc_sanitizer_classify(struct xc_crash_context *crash);

#endif
