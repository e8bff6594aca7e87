/* govalue: Go values that only the runtime's own types describe: the contents of an interface. */
#ifndef XC_GOVALUE_H
#define XC_GOVALUE_H

#include "core/base/arena.h"
#include "core/base/text.h"
#include "dwarf/unwind/goruntime.h"

/* An interface{} as it is in memory; type 0: nil. */
struct xc_goface {
	xc_addr type, data;
};

/* The name of a type of the program ("*main.badOrder", "string", "runtime.boundsError"), in the arena. NULL when
 * there is no type at the address, or it cannot be read. */
const char *xc_govalue_type(const struct xc_goruntime *go, xc_addr type, struct xc_arena *arena);

/* Append the value: a string or the text of a runtime error without quotes, a number, a struct by its debug
 * information. False, with nothing appended, when it is not known. */
bool xc_govalue_text(const struct xc_goruntime *go, const struct xc_goface *face, struct xc_text *text);

/* Append a string { data, length } at addr, at most `most` bytes of it. False when it cannot be read. */
bool xc_govalue_string(const struct xc_goruntime *go, xc_addr addr, size_t most, struct xc_text *text);

#endif
