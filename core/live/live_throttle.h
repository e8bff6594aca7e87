/* live_throttle: limits the rate at which a running process is read, so that reading does not disturb it. Private to
 * live*.c.
 *
 * The first XC_THROTTLE_FREE_BYTES are free, enough for a single query, unless xc_live_throttle_begin ends that. After
 * them two token buckets apply, which hold up to a quarter of a second's worth: bytes read from the process, and all
 * CPU time of this process, including the time spent on those bytes. When one bucket is empty, the reader sleeps. */
#ifndef XC_LIVE_THROTTLE_H
#define XC_LIVE_THROTTLE_H

#include "core/base/base.h"

#define XC_THROTTLE_FREE_BYTES (UINT64_C(64) << 20)

/* Grows by `rate` per second. A rate of 0 is no limit. */
struct xc_live_token_bucket {
	uint64_t rate;
	int64_t left;
};

struct xc_live_throttle {
	struct xc_live_token_bucket bytes, cpu; /* cpu in nanoseconds */
	uint64_t free_bytes;
	bool begun;
	uint64_t wall_ns, cpu_ns; /* clocks at the last charge */
};

void xc_live_throttle_init(struct xc_live_throttle *t, uint64_t bytes_per_second, uint64_t cpu_ns_per_second);

/* End the free bytes: throttle from now on. */
void xc_live_throttle_begin(struct xc_live_throttle *t);

/* Charge `bytes` read since the last call, and the CPU time since, by these clocks. Returns the nanoseconds to sleep
 * before the next read, 0 for none. cpu_ns may restart in a forked child. */
uint64_t xc_live_throttle_charge(struct xc_live_throttle *t, uint64_t bytes, uint64_t wall_ns, uint64_t cpu_ns);

/* The same with the real clocks, and sleep. A signal ends the sleep. Returns the nanoseconds slept. */
uint64_t xc_live_throttle_wait(struct xc_live_throttle *t, uint64_t bytes);

#endif
