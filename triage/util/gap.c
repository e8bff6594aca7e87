#include "triage/util/gap.h"

#define MOST (UINT64_C(1) << 30)

struct xc_mapping_gap xc_gap_at(const struct xc_process *process, xc_addr addr)
{
	struct xc_mapping_gap gap = {.lo = 0, .hi = UINT64_MAX};
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (m->hi < addr && m->hi + 1 >= gap.lo) {
			gap.lo = m->hi + 1;
			gap.below = m;
		}
		if (m->lo > addr && m->lo - 1 <= gap.hi) {
			gap.hi = m->lo - 1;
			gap.above = m;
		}
	}
	return gap;
}

uint64_t xc_gap_above(const struct xc_mapping_gap *gap, xc_addr addr)
{
	return gap->above ? gap->hi - addr + 1 : UINT64_MAX;
}

uint64_t xc_gap_size(const struct xc_mapping_gap *gap)
{
	return gap->below && gap->above && gap->hi - gap->lo < MOST ? gap->hi - gap->lo + 1 : 0;
}
