/* canary: functions whose stack protector found its canary overwritten. */
#ifndef XC_CANARY_H
#define XC_CANARY_H

#include "triage/crash/crash_context.h"

/* Class stack-smash: the function, the array that was overrun as verdict->expression, the bytes that were written
 * and their extent. False when no stack protector ended the program. */
bool xc_canary_classify(struct xc_crash_context *crash);

#endif
