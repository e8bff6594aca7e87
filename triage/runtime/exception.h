/* exception: the C++ exception that a thread handles: its type and message. */
#ifndef XC_EXCEPTION_H
#define XC_EXCEPTION_H

#include "triage/crash/crash_context.h"

struct xc_exception {
	const char *type; /* of what was thrown, demangled; lives as long as the report */
	xc_addr object;   /* what was thrown */
	xc_addr info;     /* its std::type_info */
	bool sure;        /* known from the runtime; else found on the stack */
};

/* The exception that the crashed thread caught last and has not left: for std::terminate(), the one that nothing
 * caught. libstdc++ and libc++abi, x86-64. */
bool xc_exception_current(const struct xc_crash_context *crash, struct xc_exception *out);

/* The exception that unwinds the crashed thread's stack: destructors run, and no handler has been entered. *out.sure:
 * it is the only one in flight. libstdc++ and libc++abi, x86-64. */
bool xc_exception_in_flight(const struct xc_crash_context *crash, struct xc_exception *out);

/* Does the runtime record neither a caught exception nor one in flight for the crashed thread? False also when the
 * runtime could not be read. */
bool xc_exception_none(const struct xc_crash_context *crash);

/* The same of caught ones alone. */
bool xc_exception_handles_none(const struct xc_crash_context *crash);

/* The result of what(), or the text of a thrown std::string, in the report's arena. NULL when the exception has none
 * or it is not known. */
const char *xc_exception_what(const struct xc_crash_context *crash, const struct xc_exception *exception);

/* The exception that this one was thrown for: of std::nested_exception, also as std::throw_with_nested() makes one.
 * False when it has none. A chain of them may be a circle. */
bool xc_exception_nested(const struct xc_crash_context *crash, const struct xc_exception *exception,
			 struct xc_exception *out);

/* The class of the object with a vptr at addr, by its current type info; NULL when it has none. */
const char *xc_exception_class(const struct xc_crash_context *crash, xc_addr addr);

#endif
