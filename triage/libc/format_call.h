/* format_call: printf() or a related function died of an argument that the format asked for and that was never passed:
 * the format is data that somebody else wrote, or it does not fit the call. */
#ifndef XC_FORMAT_CALL_H
#define XC_FORMAT_CALL_H

#include "triage/crash/crash_context.h"

/* A fault in a function of the C library that reads or writes through an argument of a formatted output. The class
 * becomes format-string, likely: of kind "data" where the format lies in memory that the program writes, and of kind
 * "arguments" where it is a constant and the argument was not passed, or is a number. False, and nothing changes, where
 * the argument was passed as a pointer: then that pointer is bad. x86-64. */
bool xc_format_call_classify(struct xc_crash_context *crash);

#endif
