/* tailcall: frames that left the stack because their last act was a jump to another function.
 *
 * When the call site behind a return address names another function than the one that runs below it, the call sites
 * that are marked as tail calls tell which functions lie between, if there is only one way. */
#ifndef XC_TAILCALL_H
#define XC_TAILCALL_H

#include "debuginfo.h"

struct xc_tailcalls;

struct xc_tailcalls *xc_tailcalls_new(const struct xc_process *process);
void xc_tailcalls_free(struct xc_tailcalls *tailcalls);

/* Between the function that holds code address `callee` and its caller on the stack with return address `ret`: the
 * return address of the innermost lost tail call (just behind its jump), or 0 when none is missing or the way is not
 * unique. Answers are kept. */
xc_addr xc_tailcall_between(struct xc_tailcalls *tailcalls, xc_addr callee, xc_addr ret);

#endif
