/* live_throttle: how fast a running process may be read, so that reading does not disturb it. Private to live*.c.
 *
 * What one question needs is read at once: the first XC_THROTTLE_FREE_BYTES, unless xc_live_throttle_begin says that this is no single
 * question. From then on two allowances are kept, which grow with time up to a quarter of a second's worth: bytes taken out of
 * the process, and CPU time of ours, all of it: what is done with the bytes counts too. When one is used up the
 * reader sleeps before it reads on. */
#ifndef XC_LIVE_THROTTLE_H
#define XC_LIVE_THROTTLE_H

#include "core/base/base.h"

#define XC_THROTTLE_FREE_BYTES (UINT64_C(64) << 20)

/* A count that grows by `rate` a second; a rate of 0 is no limit. */
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

void xc_live_throttle_init(struct xc_live_throttle *pace, uint64_t bytes_per_second, uint64_t cpu_ns_per_second);

/* No byte is free any more. */
void xc_live_throttle_begin(struct xc_live_throttle *pace);

/* Charge `bytes` read since the last call, and the time since, by these clocks. Returns for how many nanoseconds to
 * sleep before the next read, 0 for none. cpu_ns may begin anew in a forked child. */
uint64_t xc_live_throttle_charge(struct xc_live_throttle *pace, uint64_t bytes, uint64_t wall_ns, uint64_t cpu_ns);

/* The same by the real clocks, and sleep. A signal that arrives ends the sleep. Returns the nanoseconds slept. */
uint64_t xc_live_throttle_wait(struct xc_live_throttle *pace, uint64_t bytes);

#endif
