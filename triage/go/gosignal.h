/* gosignal: signals that Go's run-time ends a program for in its handler, without a panic. */
#ifndef XC_GOSIGNAL_H
#define XC_GOSIGNAL_H

#include "triage/crash/crash_context.h"

/* frames[handler] is runtime.sighandler(). With GOTRACEBACK=crash the thread that died sends SIGQUIT round to all others for their stacks, and
 * the last of them aborts: the signal that came first is looked for in the other threads, and the inquiry goes on with its thread.
 * True with a class: the fault's, or dump-request when SIGQUIT was all there was; false when the program aborted itself (in C), as the inquiry
 * then has it, or nothing is known. */
bool xc_gosignal_classify(struct xc_crash_context *crash, size_t handler);

#endif
