/* referrers: the pointers that still lead to a block of the heap. */
#ifndef XC_REFERRERS_H
#define XC_REFERRERS_H

#include "triage/crash/crash_context.h"

/* Report the words that point to the block or into it: in live blocks, in data, and, if `stacks`, on stacks where a
 * variable is known to hold them. `what` begins the sentence: "the freed block is still". Reports a few. Returns how
 * many. */
size_t xc_referrers_report(const struct xc_crash_context *crash, uint32_t block, bool stacks, const char *what);

#endif
