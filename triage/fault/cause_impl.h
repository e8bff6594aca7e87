/* cause_impl: the parts of cause. Private to cause*.c. */
#ifndef XC_CAUSE_IMPL_H
#define XC_CAUSE_IMPL_H

#include "triage/crash/inquiry.h"

/* SIGABRT: an abort's class, by last words and by who called abort. */
void xc_cause_abort(struct xc_inquiry *q);

/* Did another process send the signal? */
bool xc_cause_sent_by_other(const struct xc_inquiry *q);

/* A signal that nothing in the program raised: xc_cause's default. */
void xc_cause_killed(struct xc_inquiry *q);

/* SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, raised by an instruction; SIGSYS. */
void xc_cause_fault(struct xc_inquiry *q);

/* Control stands where no code is: gives that its class. False when it does not. */
bool xc_cause_jump(struct xc_inquiry *q);

/* SIGFPE, SIGILL, SIGTRAP, SIGSYS: instructions that cannot be done, or were made to stop. */
void xc_cause_trap(struct xc_inquiry *q);

#endif
