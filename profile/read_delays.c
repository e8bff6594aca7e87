#include "profile/read_delays.h"

/* The power of two, and the two bits behind it. */
static unsigned bucket_of(uint64_t ns)
{
	if (ns < 4)
		return (unsigned)ns;
	const unsigned power = 63 - (unsigned)__builtin_clzll(ns);
	return 4 * (power - 1) + (unsigned)(ns >> (power - 2) & 3);
}

/* The largest delay of a bucket. */
static uint64_t end_of(unsigned bucket)
{
	if (bucket < 4)
		return bucket;
	const unsigned power = bucket / 4 + 1;
	return ((UINT64_C(5) + bucket % 4) << (power - 2)) - 1;
}

void xc_read_delays_add(struct xc_read_delays *d, uint64_t ns)
{
	d->counts[bucket_of(ns)]++;
	d->count++;
	d->most_ns = ns > d->most_ns ? ns : d->most_ns;
}

uint64_t xc_read_delays_median(const struct xc_read_delays *d)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < XC_READ_DELAY_BUCKETS; i++) {
		sum += d->counts[i];
		if (sum && sum >= (d->count + 1) / 2)
			return end_of(i) < d->most_ns ? end_of(i) : d->most_ns;
	}
	return 0;
}
