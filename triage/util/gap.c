#include "triage/util/gap.h"

#define MOST (UINT64_C(1) << 30)

struct xc_mapping_gap xc_gap_at(const struct xc_process *process, xc_addr addr)
{
	struct xc_mapping_gap gap = {.lo = 0, .hi = UINT64_MAX};
	size_t next = xc_process_mapping_lower_bound(process, addr);
	if (next > 0) {
		gap.below = &process->mappings[next - 1];
		gap.lo = gap.below->hi + 1;
	}
	if (next < process->mapping_count && process->mappings[next].lo <= addr)
		next++; /* the address is mapped */
	if (next < process->mapping_count) {
		gap.above = &process->mappings[next];
		gap.hi = gap.above->lo - 1;
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
