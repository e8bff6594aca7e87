/* vtable_slot: the virtual function that a call was meant to reach. */
#ifndef XC_VTABLE_SLOT_H
#define XC_VTABLE_SLOT_H

#include "triage/crash/crash_context.h"

/* The vtable slot that the call ending at `pc` used: bytes from the value of the vptr. False when the code does not
 * show it, or more than one path leads to the call. */
bool xc_vtable_slot_called(const struct xc_crash_context *crash, xc_addr pc, int64_t *offset_out);

#endif
