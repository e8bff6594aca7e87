/* live_throttle: two token buckets.
 *
 * The reader pays afterwards, because the time spent on the bytes is not known before. So a bucket may fall below zero,
 * and the sleep lasts until it is full enough. It lasts SLICE_NS longer, because many short sleeps would wake the
 * processor too often. */
#include "core/live/live_throttle.h"

#include <time.h>

static const uint64_t SECOND_NS = 1000000000, SLICE_NS = 50000000;

/* The capacity of a bucket: no second sees more than 5/4 of the rate, even after a pause of the reader. */
static const uint64_t SAVED_NS = 250000000;

void xc_live_throttle_init(struct xc_live_throttle *t, uint64_t bytes_per_second, uint64_t cpu_ns_per_second)
{
	*t = (struct xc_live_throttle){
		.bytes.rate = bytes_per_second, .cpu.rate = cpu_ns_per_second, .free_bytes = XC_THROTTLE_FREE_BYTES};
}

void xc_live_throttle_begin(struct xc_live_throttle *t)
{
	t->free_bytes = 0;
}

static int64_t worth(uint64_t rate, uint64_t ns)
{
	return (int64_t)((double)rate * (double)ns / (double)SECOND_NS);
}

/* Refill the bucket and charge it. Returns the required sleep. */
static uint64_t charge(struct xc_live_token_bucket *a, uint64_t elapsed_ns, uint64_t used)
{
	if (!a->rate)
		return 0;
	int64_t full = worth(a->rate, SAVED_NS);
	a->left += worth(a->rate, elapsed_ns);
	a->left = (a->left < full ? a->left : full) - (int64_t)used;
	if (a->left >= 0)
		return 0;
	return SLICE_NS + (uint64_t)((double)-a->left / (double)a->rate * (double)SECOND_NS);
}

static void begin(struct xc_live_throttle *t, uint64_t wall_ns, uint64_t cpu_ns)
{
	t->begun = true;
	t->bytes.left = worth(t->bytes.rate, SAVED_NS);
	t->cpu.left = worth(t->cpu.rate, SAVED_NS);
	t->wall_ns = wall_ns;
	t->cpu_ns = cpu_ns;
}

uint64_t xc_live_throttle_charge(struct xc_live_throttle *t, uint64_t bytes, uint64_t wall_ns, uint64_t cpu_ns)
{
	t->free_bytes -= bytes < t->free_bytes ? bytes : t->free_bytes;
	if (t->free_bytes)
		return 0;
	if (!t->begun)
		begin(t, wall_ns, cpu_ns);
	uint64_t elapsed = wall_ns - t->wall_ns;
	uint64_t used = cpu_ns >= t->cpu_ns ? cpu_ns - t->cpu_ns : cpu_ns;
	t->wall_ns = wall_ns;
	t->cpu_ns = cpu_ns;
	uint64_t for_bytes = charge(&t->bytes, elapsed, bytes), for_cpu = charge(&t->cpu, elapsed, used);
	return for_bytes > for_cpu ? for_bytes : for_cpu;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

uint64_t xc_live_throttle_wait(struct xc_live_throttle *t, uint64_t bytes)
{
	/* While bytes are free no clock is read: that would cost a system call per batch. */
	bool active = t->free_bytes <= bytes && (t->bytes.rate || t->cpu.rate);
	uint64_t before = active ? clock_ns(CLOCK_MONOTONIC) : 0;
	uint64_t ns = xc_live_throttle_charge(t, bytes, before, active ? clock_ns(CLOCK_PROCESS_CPUTIME_ID) : 0);
	if (!active || !ns)
		return 0;
	struct timespec sleep = {.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
	nanosleep(&sleep, NULL);
	return clock_ns(CLOCK_MONOTONIC) - before;
}
