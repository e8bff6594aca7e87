/* value_place: the word of memory that a bad value was read from. */
#ifndef XC_VALUE_PLACE_H
#define XC_VALUE_PLACE_H

#include "triage/dataflow/deref.h"

/* Where the way of the value (deref.h) leads, when that word still has the value. Else the member of a structure that
 * a variable of the innermost frames points to. Else the only word of the program's data or of a live block that has
 * it. `found`: the addresses of all copies of its bytes, aligned or not. *out has .at, and where they are known
 * .pointer, .pointer_type and .led. False: not known. */
bool xc_value_place_find(const struct xc_crash_context *crash, uint64_t value, const xc_addr *found, size_t count,
			 struct xc_deref *out);

#endif
