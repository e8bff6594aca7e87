/* object_class: the class of an object by its vtable, whatever pointers to it say. */
#ifndef XC_OBJECT_CLASS_H
#define XC_OBJECT_CLASS_H

#include "triage/crash/crash_context.h"

/* The object may be a live block of the heap, or anywhere else that can be written. NULL: there is no complete object
 * with a vptr, or debug information does not describe its class. */
const struct xc_type *xc_object_class(const struct xc_crash_context *crash, xc_addr begin);

/* The class of an object that is said to be of class `type`, when neither begins with the other. NULL: it may be of
 * that class, or it is not known. */
const struct xc_type *xc_object_class_other(const struct xc_crash_context *crash, xc_addr begin,
					    const struct xc_type *type);

/* Does an object of the type (may be NULL) begin with a vptr? */
bool xc_object_class_is_polymorphic(const struct xc_type *type);

#endif
