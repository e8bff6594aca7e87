/* uncaught: C++ programs that the run-time ended: exceptions that nothing caught, memory that could not be had, pure virtual calls. */
#ifndef XC_UNCAUGHT_H
#define XC_UNCAUGHT_H

#include "triage/crash/crash_context.h"

/* The class uncaught-exception (kind: what was thrown), out-of-memory (std::bad_alloc) or pure-virtual-call, with the exception's what()
 * as the message and the thrower to blame. False when the C++ run-time did not end the program. */
bool xc_uncaught_classify(struct xc_crash_context *crash);

#endif
