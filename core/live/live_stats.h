/* live_stats: what reading a running process has cost. */
#ifndef XC_LIVE_STATS_H
#define XC_LIVE_STATS_H

#include <stdint.h>

/* Counted in this process and in children forked after the target was opened. */
struct xc_live_stats {
	uint64_t bytes;     /* read from the process */
	uint64_t batches;   /* system calls that read them */
	uint64_t absent;    /* pages not read from the process: never touched, or read from the mapped file */
	uint64_t torn;      /* torn reads, by xc_live_count_torn */
	uint64_t read_ns;   /* wall time spent reading */
	uint64_t paused_ns; /* slept to stay within the limits of xc_open_options */
};

#endif
