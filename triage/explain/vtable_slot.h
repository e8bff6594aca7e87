/* vtable_slot: which virtual function a call was to reach. */
#ifndef XC_VTABLE_SLOT_H
#define XC_VTABLE_SLOT_H

#include "triage/crash/crash_context.h"

/* Where in its vtable the call that ends at `pc` took the function from: bytes from what a vptr holds. False when that is not told by
 * the code, or when more than one way leads to the call. */
bool xc_vtable_slot_called(const struct xc_crash_context *crash, xc_addr pc, int64_t *offset_out);

#endif
