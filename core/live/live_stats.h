/* live_stats: what reading a running process has cost. */
#ifndef XC_LIVE_STATS_H
#define XC_LIVE_STATS_H

#include <stdint.h>

/* What reading has cost so far, here and in children forked after the process was opened. */
struct xc_live_stats {
	uint64_t bytes;     /* taken out of the process */
	uint64_t batches;   /* system calls that took them */
	uint64_t absent;    /* pages answered without the process: never touched, or from the mapped file */
	uint64_t torn;      /* what xc_live_count_torn counted */
	uint64_t read_ns;   /* spent reading, by the wall clock */
	uint64_t paused_ns; /* slept to keep to the limits of xc_open_options */
};

#endif
