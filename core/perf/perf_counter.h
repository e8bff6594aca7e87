/* perf_counter: events of which the kernel, or the processor, counts how often they happen, by perf's names. */
#ifndef XC_PERF_COUNTER_H
#define XC_PERF_COUNTER_H

#include "core/base/base.h"

struct xc_perf_counter {
	const char *name; /* "page-faults" */
	const char *unit; /* "page faults" */
	uint32_t type;    /* PERF_TYPE_… */
	uint64_t config;
	bool in_kernel; /* it happens in the kernel only */
};

/* The names of all, for an option: ends with NULL. */
extern const char *const xc_perf_counter_names[];

/* NULL: there is none of that name. */
const struct xc_perf_counter *xc_perf_counter_find(const char *name);

#endif
