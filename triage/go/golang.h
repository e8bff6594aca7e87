/* golang: Go programs that their run-time ended: panics that nothing recovered, and what cannot be recovered (runtime.throw). */
#ifndef XC_GOLANG_H
#define XC_GOLANG_H

#include "triage/crash/crash_context.h"

/* Of a Go program that aborted itself (GOTRACEBACK=crash): the class panic, its kind by what the run-time found ("nil", "index", "slice", "nil map",
 * "type assertion", …, "explicit", "concurrent map", "unlock", "throw"), or out-of-memory, stack-overflow, deadlock (all goroutines wait),
 * dump-request (SIGQUIT), or that of the fault that run-time could not make a panic of, which then is the inquiry's. The goroutine's
 * function is to blame, not the run-time or the standard library. A stripped program's functions have names by the run-time's own table; what
 * throw() printed is not known there, and who called it tells the kind, likely. False when it is not Go's run-time that ended the program. */
bool xc_golang_classify(struct xc_crash_context *crash);

/* The verdict's expression as Go writes it, where the blamed function is Go's: `r.next.id`. */
void xc_golang_spell(struct xc_crash_context *crash);

#endif
