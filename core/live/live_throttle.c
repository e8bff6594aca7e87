/* live_throttle: two token buckets.
 *
 * The reader pays afterwards, since nobody knows before how long it will work on what it read; so an allowance may fall
 * below zero, and the sleep is as long as it takes to grow back. It sleeps a little longer, SLICE_NS worth of allowance: many short
 * sleeps would wake the processor for nothing. */
#include "core/live/live_throttle.h"

#include <time.h>

static const uint64_t SECOND_NS = 1000000000, SLICE_NS = 50000000;

/* What may be saved up. So no second sees more than 5/4 of the rate, also when the reader had to wait for its turn. */
static const uint64_t SAVED_NS = 250000000;

void xc_live_throttle_init(struct xc_live_throttle *pace, uint64_t bytes_per_second, uint64_t cpu_ns_per_second)
{
	*pace = (struct xc_live_throttle){
		.bytes.rate = bytes_per_second, .cpu.rate = cpu_ns_per_second, .free_bytes = XC_THROTTLE_FREE_BYTES};
}

void xc_live_throttle_begin(struct xc_live_throttle *pace)
{
	pace->free_bytes = 0;
}

static int64_t worth(uint64_t rate, uint64_t ns)
{
	return (int64_t)((double)rate * (double)ns / (double)SECOND_NS);
}

/* Grow and pay; returns the sleep that is owed. */
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

static void begin(struct xc_live_throttle *pace, uint64_t wall_ns, uint64_t cpu_ns)
{
	pace->begun = true;
	pace->bytes.left = worth(pace->bytes.rate, SAVED_NS);
	pace->cpu.left = worth(pace->cpu.rate, SAVED_NS);
	pace->wall_ns = wall_ns;
	pace->cpu_ns = cpu_ns;
}

uint64_t xc_live_throttle_charge(struct xc_live_throttle *pace, uint64_t bytes, uint64_t wall_ns, uint64_t cpu_ns)
{
	pace->free_bytes -= bytes < pace->free_bytes ? bytes : pace->free_bytes;
	if (pace->free_bytes)
		return 0;
	if (!pace->begun)
		begin(pace, wall_ns, cpu_ns);
	uint64_t elapsed = wall_ns - pace->wall_ns;
	uint64_t used = cpu_ns >= pace->cpu_ns ? cpu_ns - pace->cpu_ns : cpu_ns;
	pace->wall_ns = wall_ns;
	pace->cpu_ns = cpu_ns;
	uint64_t for_bytes = charge(&pace->bytes, elapsed, bytes), for_cpu = charge(&pace->cpu, elapsed, used);
	return for_bytes > for_cpu ? for_bytes : for_cpu;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

uint64_t xc_live_throttle_wait(struct xc_live_throttle *pace, uint64_t bytes)
{
	/* While bytes are free no clock is looked at: that would be a system call for each batch. */
	bool paced = pace->free_bytes <= bytes && (pace->bytes.rate || pace->cpu.rate);
	uint64_t before = paced ? clock_ns(CLOCK_MONOTONIC) : 0;
	uint64_t ns = xc_live_throttle_charge(pace, bytes, before, paced ? clock_ns(CLOCK_PROCESS_CPUTIME_ID) : 0);
	if (!paced || !ns)
		return 0;
	struct timespec sleep = {.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
	nanosleep(&sleep, NULL);
	return clock_ns(CLOCK_MONOTONIC) - before;
}
