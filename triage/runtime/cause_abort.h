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

/* Class abort, when the program called abort() through a function that exists for this: a CHECK macro's, a fatal log
 * message's, die(). Blames the caller of it; its text becomes the message. False when there is no such function, or
 * no caller. Implemented in fatal_call.c. */
bool xc_fatal_call_classify(struct xc_crash_context *crash);

/* The same for such a function that executes a trap instead of calling abort(): class trap-instruction. */
bool xc_fatal_call_trap(struct xc_crash_context *crash);

#endif
