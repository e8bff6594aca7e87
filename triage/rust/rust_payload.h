/* rust_payload: the message of a panic that was made by formatting: on the heap, by what the runtime keeps of it. */
#ifndef XC_RUST_PAYLOAD_H
#define XC_RUST_PAYLOAD_H

#include "triage/crash/crash_context.h"

/* The message of the only panic in flight, in the report's arena: of one that a function stops which must not unwind,
 * or that a destructor panics under. NULL: there is none, there are several, its payload is no text, or the heap is not
 * known. x86-64 only. */
const char *xc_rust_payload_in_flight(const struct xc_crash_context *crash);

/* The message that the handler of the panic has formatted: the only String in its frames, which are those before
 * frames[end], that begins with the text `with` (NULL: any), in the report's arena. NULL: there is none, or several.
 * x86-64 only. */
const char *xc_rust_payload_formatted(const struct xc_crash_context *crash, size_t end, const char *with);

/* The text of the Box<dyn Any> at an address, in the report's arena. NULL: its object is neither a String nor a &str,
 * by the size in its vtable, or cannot be read. Words of 8 bytes only. */
const char *xc_rust_payload_boxed(const struct xc_crash_context *crash, xc_addr at);

#endif
