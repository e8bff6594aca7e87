/* meeting: when will a comparison turn out otherwise, if its operands change by the same amount in each round? */
#ifndef XC_MEETING_H
#define XC_MEETING_H

#include "core/base/base.h"

struct xc_meeting {
	uint64_t left, right;           /* what is compared now, */
	uint64_t left_step, right_step; /* and what a round adds to it, modulo the size */
	uint32_t size;                  /* bytes of all four: 1 to 8 */
	unsigned condition; /* of the jump, as in its code: 2 below, 4 equal, 6 below or equal, 12 less, 14 less
					 * or equal; + 1: not so */
	bool holds;         /* the condition holds now */
};

/* After how many rounds it does not hold any more, or holds for the first time. 0: that is not known: another
 * condition, or both operands of an order change. UINT64_MAX: never, however the numbers go round. *wraps_out: only
 * when a number has gone round, past the largest or below the smallest. */
uint64_t xc_meeting_rounds(const struct xc_meeting *meeting, bool *wraps_out);

#endif
