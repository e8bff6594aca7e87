/* stopped: a living process that a signal or a debugger has stopped: it does nothing, whatever its threads were in. */
#ifndef XC_STOPPED_H
#define XC_STOPPED_H

#include "triage/crash/crash_context.h"

/* Are all threads stopped? */
bool xc_stopped_is(const struct xc_process *process);

/* Set the class stopped, where they are; false, and nothing changes, otherwise. */
bool xc_stopped_classify(struct xc_crash_context *crash);

/* Where they are, evidence that says so beside another verdict. */
void xc_stopped_report(struct xc_crash_context *crash);

#endif
