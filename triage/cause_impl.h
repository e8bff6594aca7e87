/* cause_impl: the parts of cause. Private to cause*.c. */
#ifndef XC_CAUSE_IMPL_H
#define XC_CAUSE_IMPL_H

#include "inquiry.h"

/* SIGABRT: an abort's class, by last words and by who called abort. */
void xc_cause_abort(struct xc_inquiry *q);

/* A signal that nothing in the program raised: xc_cause's default. */
void xc_cause_killed(struct xc_inquiry *q);

/* SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, raised by an instruction. */
void xc_cause_fault(struct xc_inquiry *q);

#endif
