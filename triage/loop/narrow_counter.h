/* narrow_counter: a number of 1 or 2 bytes whose loop ends where it passes a bound that it can never reach. */
#ifndef XC_NARROW_COUNTER_H
#define XC_NARROW_COUNTER_H

#include "triage/code/loop.h"
#include "triage/dataflow/frame_code.h"

struct xc_narrow_counter {
	uint32_t size; /* bytes: 1 or 2 */
	uint64_t bound;
	bool shared; /* the bound is in memory that another thread may change, */
	bool called; /* or what the loop calls */
};

/* Of a loop that ends only by one comparison, of a number that is widened from 1 or 2 bytes just before, with a larger
 * one that nothing in the loop is seen to change. What it calls may change that, or not come back. */
bool xc_narrow_counter_find(const struct xc_frame_code *code, const struct xc_loop *loop,
			    struct xc_narrow_counter *out);

#endif
