/* cause_abort: SIGABRT without a more specific cause. */
#ifndef XC_CAUSE_ABORT_H
#define XC_CAUSE_ABORT_H

#include "triage/crash/crash_context.h"

/* Is abort() on the stack? */
bool xc_cause_abort_called(const struct xc_crash_context *crash);

/* SIGABRT that another process sent: killed. False when the program called abort() itself. */
bool xc_cause_abort_sent(struct xc_crash_context *crash);

/* The class abort. Never false. */
bool xc_cause_abort_classify(struct xc_crash_context *crash);

#endif
