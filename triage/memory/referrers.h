/* referrers: who still points to a block of the heap. */
#ifndef XC_REFERRERS_H
#define XC_REFERRERS_H

#include "triage/crash/crash_context.h"

/* Evidence of the words that lead to the block or into it: of live blocks and of data, and, where wanted, of the stacks, of which only
 * those that a variable is known to have. `what` begins the sentence: "the freed block is still". A few are told. Returns how many. */
size_t xc_referrers_report(const struct xc_crash_context *crash, uint32_t block, bool stacks, const char *what);

#endif
