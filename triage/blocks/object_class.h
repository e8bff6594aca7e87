/* object_class: the class of an object by its vtable, whatever pointers to it say. */
#ifndef XC_OBJECT_CLASS_H
#define XC_OBJECT_CLASS_H

#include "triage/crash/crash_context.h"

/* The object may be a live block of the heap, or anywhere else that can be written. NULL: there is no complete object
 * with a vptr, or debug information does not describe its class. */
const struct xc_type *xc_object_class(const struct xc_crash_context *crash, xc_addr begin);

#endif
