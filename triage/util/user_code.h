/* user_code: which functions of a place were written for this program, and which are a language's library that stands in it: templates,
 * what was inlined, run-times that are linked in (std::mutex::lock, core::ops::…). */
#ifndef XC_USER_CODE_H
#define XC_USER_CODE_H

#include "dwarf/symbolize/debuginfo.h"

/* Is this level of the place the program's own? Which module it is in is not looked at. A place without debug information has level 0. */
bool xc_user_code_is(const struct xc_place *place, size_t level);

/* Is it no module's code but what a plugin has named, as that of a JIT (dwarf/cfi/guest.h)? That is the program's own, too. */
bool xc_user_code_is_jit(const struct xc_place *place);

/* The innermost level that is the program's own; false when none is, or the place is in no module or a run-time's. */
bool xc_user_code_level(const struct xc_place *place, size_t *level_out);

#endif
