#include "core/perf/perf_counter.h"

#include <linux/perf_event.h>
#include <string.h>

/* The same order in both. */
const char *const xc_perf_counter_names[] = {
	"page-faults",      "minor-faults", "major-faults", "context-switches", "cpu-migrations",
	"alignment-faults", "cycles",       "instructions", "cache-misses",     NULL};

static const struct xc_perf_counter counters[] = {
	{"page-faults", "page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
	{"minor-faults", "minor page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, false},
	{"major-faults", "major page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false},
	{"context-switches", "context switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
	{"cpu-migrations", "moves to another CPU", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
	{"alignment-faults", "alignment faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, false},
	{"cycles", "CPU cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
	{"instructions", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
	{"cache-misses", "cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
};

_Static_assert(XC_COUNT(xc_perf_counter_names) == XC_COUNT(counters) + 1, "a name for each");

const struct xc_perf_counter *xc_perf_counter_find(const char *name)
{
	for (size_t i = 0; name && i < XC_COUNT(counters); i++)
		if (strcmp(counters[i].name, name) == 0)
			return &counters[i];
	return NULL;
}
