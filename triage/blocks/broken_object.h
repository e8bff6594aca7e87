/* broken_object: an object of C++ whose members are not what their classes say: none that lives. */
#ifndef XC_BROKEN_OBJECT_H
#define XC_BROKEN_OBJECT_H

#include "triage/crash/crash_context.h"

/* Append "`name` is no std::string, `marks` is no std::vector": the members that are strings or containers, and not
 * valid. False, and nothing is appended, where one of them is valid and not empty, or none is invalid. */
bool xc_broken_object_find(const struct xc_crash_context *crash, const struct xc_type *type, xc_addr at,
			   struct xc_text *out);

#endif
