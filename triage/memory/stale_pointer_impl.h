/* stale_pointer_impl: what stale_pointer.c and stale_variable.c share. */
#ifndef XC_STALE_POINTER_IMPL_H
#define XC_STALE_POINTER_IMPL_H

#include "triage/blocks/other_owner.h"
#include "triage/memory/stale_pointer.h"

/* What the pointer leads to. False where that is no block of the heap; its type is set all the same. */
bool xc_stale_target(const struct xc_crash_context *crash, const struct xc_deref *deref, struct xc_pointed *out);

/* Is the object there of another class than `type`? Then *out says so. */
bool xc_stale_class_at(const struct xc_crash_context *crash, xc_addr led, const struct xc_type *type,
		       struct xc_stale *out);

/* Set out->moved where a container has such objects elsewhere. */
void xc_stale_moved(struct xc_pointed *pointed, struct xc_stale *out);

#endif
