/* cause_abort: SIGABRT without a more specific cause. */
#ifndef XC_CAUSE_ABORT_H
#define XC_CAUSE_ABORT_H

#include "triage/crash/inquiry.h"

/* Is abort() on the stack? */
bool xc_cause_abort_called(const struct xc_inquiry *q);

/* SIGABRT that another process sent: killed. False when the program called abort() itself. */
bool xc_cause_abort_sent(struct xc_inquiry *q);

/* The class abort. Never false. */
bool xc_cause_abort_classify(struct xc_inquiry *q);

#endif
