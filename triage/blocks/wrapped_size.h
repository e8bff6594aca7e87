/* wrapped_size: a block that is too small because the product that it was asked for did not fit in its type. */
#ifndef XC_WRAPPED_SIZE_H
#define XC_WRAPPED_SIZE_H

#include "triage/crash/crash_context.h"

/* For a block that was overrun: the numbers beside a pointer to it, in its owner or among the variables of one
 * function, or those at its beginning, whose product is too large for 32 bits (or 64), and is the block's size without
 * the upper ones. Adds to the cause: "likely the size wrapped: w * h * 4 = 4295032832 does not fit in 32 bits, and the
 * block has 65544 bytes". False when there is no such product. Infers the types of the heap, which may renumber the
 * blocks; searches memory. */
bool xc_wrapped_size_report(struct xc_crash_context *crash, xc_addr begin);

#endif
