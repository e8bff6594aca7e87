/* exception: the C++ exception that a thread handles: what it is, what it says. */
#ifndef XC_EXCEPTION_H
#define XC_EXCEPTION_H

#include "triage/crash/crash_context.h"

struct xc_exception {
	const char *type; /* of what was thrown, demangled; lives as long as the report */
	xc_addr object;   /* what was thrown */
	xc_addr info;     /* its std::type_info */
	bool sure;        /* the run-time says so; else found on the stack */
};

/* The exception that was caught last, and not left, in the thread that died: for std::terminate() it is the one that nothing caught.
 * libstdc++ and libc++abi, x86-64. */
bool xc_exception_current(const struct xc_crash_context *crash, struct xc_exception *out);

/* Does the run-time say that none was caught and none is on its way in that thread? False also when it could not be asked. */
bool xc_exception_none(const struct xc_crash_context *crash);

/* What what() would return, or the text of a std::string that was thrown, in the report's arena; NULL when the exception has none or that is not known. */
const char *xc_exception_what(const struct xc_crash_context *crash, const struct xc_exception *exception);

/* The name of the class of the object with a vptr at addr, as its type info tells it now; NULL when it has none. */
const char *xc_exception_class(const struct xc_crash_context *crash, xc_addr addr);

#endif
