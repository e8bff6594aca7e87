/* read_delays: how long after samples their frames of interpreted languages were read. The innermost function is that
 * of the sample, by its registers, or told as torn; its callers are those of that time, maybe of a later call.
 *
 * Zeroed, the struct holds none. */
#ifndef XC_READ_DELAYS_H
#define XC_READ_DELAYS_H

#include "core/base/base.h"

enum { XC_READ_DELAY_BUCKETS = 4 * 64 }; /* four for each power of two */

struct xc_read_delays {
	uint64_t counts[XC_READ_DELAY_BUCKETS];
	uint64_t count, most_ns;
};

void xc_read_delays_add(struct xc_read_delays *delays, uint64_t ns);

/* At most a quarter above the median; 0: there are none. */
uint64_t xc_read_delays_median(const struct xc_read_delays *delays);

#endif
