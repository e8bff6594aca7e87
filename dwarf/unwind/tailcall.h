/* tailcall: frames that left the stack because their last action was a jump to another function.
 *
 * When the call site at a return address names a function other than the one that runs below it, the call sites
 * marked as tail calls show which functions lie between, as long as there is only one path. */
#ifndef XC_TAILCALL_H
#define XC_TAILCALL_H

#include "dwarf/symbolize/debuginfo.h"

struct xc_tailcalls;

struct xc_tailcalls *xc_tailcalls_new(const struct xc_process *process);
void xc_tailcalls_free(struct xc_tailcalls *tailcalls);

struct xc_lost_call {
	xc_addr pc;   /* the return address of the innermost known tail call, just after its jump; 0: none is known */
	bool partial; /* there are several paths: this call is on all of them, others are unknown */
};

/* The frames lost between the function that holds code address `callee` and its caller on the stack with return
 * address `ret`. None when no frame is missing, when the path is unknown, and when several paths differ at both ends.
 * Repeated queries for the frame found end, after a finite number of steps, at the function that the caller called.
 * Answers are kept. */
struct xc_lost_call xc_tailcall_between(struct xc_tailcalls *tailcalls, xc_addr callee, xc_addr ret);

#endif
