/* uncaught: C++ programs that the runtime ended: uncaught exceptions, failed allocations, pure virtual calls. */
#ifndef XC_UNCAUGHT_H
#define XC_UNCAUGHT_H

#include "triage/crash/crash_context.h"

/* Class uncaught-exception (kind: the type thrown), out-of-memory (std::bad_alloc), pure-virtual-call, or terminate
 * (std::terminate() without an exception that nothing caught; kind: joinable thread, rethrow, called), with what() as
 * the message. Blames the thrower. False when the C++ runtime did not end the program. */
bool xc_uncaught_classify(struct xc_crash_context *crash);

/* Evidence: the exception that was unwinding the stack when the thread died, as in a destructor. Nothing when there is
 * none, or it is itself the cause. */
void xc_uncaught_report_flight(struct xc_crash_context *crash);

#endif
