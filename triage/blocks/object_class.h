/* object_class: the class of the object with which a block begins, by its vtable, whatever pointers to it say. */
#ifndef XC_OBJECT_CLASS_H
#define XC_OBJECT_CLASS_H

#include "triage/crash/crash_context.h"

/* NULL: the live block at this address does not begin with a complete object with a vptr, or debug information does not
 * describe its class. crash->heap must not be NULL. */
const struct xc_type *xc_object_class(const struct xc_crash_context *crash, xc_addr begin);

#endif
