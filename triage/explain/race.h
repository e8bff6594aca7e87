/* race: a bad value that has been replaced since it was read: another thread writes it at the same time. */
#ifndef XC_RACE_H
#define XC_RACE_H

#include "triage/crash/crash_context.h"

/* When the place of the bad value holds another value by now: set the kind of the class to "race", and name the
 * threads that run code which writes there. Call it after the operand was described (expression.h). Reads the code of
 * at most 64 functions. */
void xc_race_report(struct xc_crash_context *crash);

/* Set the kind of the class to "race", unless it has one, the severity to medium at least, and say so in the cause, as
 * likely unless `certain`. with: "thread" or "process", which has written at the same time. */
void xc_race_classify(struct xc_crash_context *crash, bool certain, const char *with);

#endif
