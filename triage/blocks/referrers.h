/* referrers: the pointers that still lead to a block of the heap. */
#ifndef XC_REFERRERS_H
#define XC_REFERRERS_H

#include "triage/crash/crash_context.h"

/* Report the words that point to the block or into it: in live blocks, in data, and, if `stacks`, on stacks where a
 * variable is known to hold them. `what` begins the sentence: "the freed block is still". Reports a few. Returns how
 * many. */
size_t xc_referrers_report(const struct xc_crash_context *crash, uint32_t block, bool stacks, const char *what);

/* Report what an object holds, its records so deep: "that struct message is {type = 7, length = 28654, …}". Nothing
 * when that is not all known, or a long text. */
void xc_referrers_object(const struct xc_crash_context *crash, const struct xc_type *type, xc_addr addr,
			 unsigned depth);

#endif
