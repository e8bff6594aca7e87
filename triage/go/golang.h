/* golang: Go programs that their runtime ended: panics without recover, and fatal errors (runtime.throw). */
#ifndef XC_GOLANG_H
#define XC_GOLANG_H

#include "triage/crash/crash_context.h"

/* For a Go program that aborted itself (GOTRACEBACK=crash). The class panic, its kind by the runtime's reason
 * ("nil", "index", "slice", "nil map", "type assertion", …, "explicit", "concurrent map", "unlock", "throw"); or
 * out-of-memory, stack-overflow, deadlock (all goroutines wait), dump-request (SIGQUIT); or the class of a fault
 * that the runtime could not turn into a panic, which then becomes the fault of the crash. Blames the function of
 * the goroutine, not the runtime or the standard library. In a stripped program function names come from the
 * runtime's own table; the text of throw() is not known there, and its caller determines the kind, as likely. False
 * when Go's runtime did not end the program. */
bool xc_golang_classify(struct xc_crash_context *crash);

/* Rewrite the expression of the verdict in Go's syntax, where the blamed function is Go's: `r.next.id`. */
void xc_golang_spell(struct xc_crash_context *crash);

#endif
