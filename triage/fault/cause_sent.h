/* cause_sent: rules of signals that nothing in the program raised. */
#ifndef XC_CAUSE_SENT_H
#define XC_CAUSE_SENT_H

#include "triage/crash/crash_context.h"

/* The signal of a fault that was sent: sent-by-user. Never false. */
bool xc_cause_sent_fault(struct xc_crash_context *crash);

/* Any other signal: dump-request for SIGQUIT, killed. Never false. */
bool xc_cause_sent_killed(struct xc_crash_context *crash);

#endif
