/* vslot: which virtual function a call was to reach. */
#ifndef XC_VSLOT_H
#define XC_VSLOT_H

#include "triage/crash/inquiry.h"

/* Where in its vtable the call that ends at `pc` took the function from: bytes from what a vptr holds. False when that is not told by
 * the code, or when more than one way leads to the call. */
bool xc_vslot_called(const struct xc_inquiry *q, xc_addr pc, int64_t *offset_out);

#endif
