/* canary: functions whose stack protector found its word overwritten. */
#ifndef XC_CANARY_H
#define XC_CANARY_H

#include "triage/crash/crash_context.h"

/* The class stack-smash: the function, the array that was written past its end as verdict->expression, what was written and how far.
 * False when no stack protector ended the program. */
bool xc_canary_classify(struct xc_crash_context *crash);

#endif
