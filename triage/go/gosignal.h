/* gosignal: signals for which the handler of Go's runtime ends the program, without a panic. */
#ifndef XC_GOSIGNAL_H
#define XC_GOSIGNAL_H

#include "triage/crash/crash_context.h"

/* frames[handler] is runtime.sighandler(). With GOTRACEBACK=crash the crashed thread sends SIGQUIT to all others for
 * their stacks, and the last of them aborts. So the first signal is searched for in the other threads, and its
 * thread becomes that of the crash. True with a class: that of the fault, or dump-request when there was only
 * SIGQUIT. False when the program aborted itself (in C), with the crash context set to that, or when nothing is
 * known. */
bool xc_gosignal_classify(struct xc_crash_context *crash, size_t handler);

#endif
