/* value_place: the word of memory that a bad value was read from, and the variable that has a word. */
#ifndef XC_VALUE_PLACE_H
#define XC_VALUE_PLACE_H

#include "triage/dataflow/deref.h"

/* Of a return to an address that is no code: *at_out is the word of the stack that it was read from; nothing else
 * is. */
bool xc_value_place_returned(const struct xc_crash_context *crash, xc_addr *at_out);

/* That word of a return. Where the way of the value (deref.h) leads, when that word still has the value. Else the
 * member of a structure that a variable of the innermost frames points to. Else the only word of the program's data or
 * of a live block that has it. `found`: the addresses of all copies of its bytes, aligned or not. *out has .at, and
 * where they are known .pointer, .pointer_type and .led. False: not known. */
bool xc_value_place_find(const struct xc_crash_context *crash, uint64_t value, const xc_addr *found, size_t count,
			 struct xc_deref *out);

/* The second of these alone: no copies need to be known. */
bool xc_value_place_of_variable(const struct xc_crash_context *crash, uint64_t value, struct xc_deref *out);

/* For `this` of a part of an object: the same word, by the variable that leads to the whole object. Else `deref`. */
const struct xc_deref *xc_value_place_named(const struct xc_crash_context *crash, const struct xc_deref *deref);

/* The type of the variable of a stack, or of the program's data, that has the word at `at`, and the word's offset in
 * it. NULL when it is not known: then the offset is not set. crash->heap must not be NULL. */
const struct xc_type *xc_value_place_variable(const struct xc_crash_context *crash, xc_addr at, uint64_t *offset_out);

#endif
