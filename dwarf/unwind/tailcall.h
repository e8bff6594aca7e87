/* tailcall: frames that left the stack because their last act was a jump to another function.
 *
 * When the call site behind a return address names another function than the one that runs below it, the call sites
 * that are marked as tail calls tell which functions lie between, as far as there is only one way. */
#ifndef XC_TAILCALL_H
#define XC_TAILCALL_H

#include "dwarf/symbolize/debuginfo.h"

struct xc_tailcalls;

struct xc_tailcalls *xc_tailcalls_new(const struct xc_process *process);
void xc_tailcalls_free(struct xc_tailcalls *tailcalls);

struct xc_lost_call {
	xc_addr pc; /* the return address of the innermost tail call that is known, just behind its jump; 0: none is */
	bool partial; /* there are several ways: it is on all of them, others are not known */
};

/* Between the function that holds code address `callee` and its caller on the stack with return address `ret`. None when none
 * is missing, when the way is not known, and when the several ways begin and end differently. Asked again for what was found, it ends
 * after a finite number of steps at the function that the caller called. Answers are kept. */
struct xc_lost_call xc_tailcall_between(struct xc_tailcalls *tailcalls, xc_addr callee, xc_addr ret);

#endif
