/* slices: how counts grow over time: what each grew by in each slice of the time, in bounded memory.
 *
 *	slices of 1 ms ─→ more than XC_PROFILE_SLICES of them, or too many entries ─→ two and two become one ─→ 2 ms …
 *
 * So a profile of any length has some hundred slices. Counts are the caller's: numbers from 0 on. */
#ifndef XC_SLICES_H
#define XC_SLICES_H

#include "core/base/base.h"

struct xc_slice_entry {
	uint32_t count; /* the caller's number */
	uint32_t samples;
	uint32_t slice;
};

struct xc_slices {
	uint64_t start_ns, length_ns;   /* of a slice */
	struct xc_slice_entry *entries; /* in no order; of a count and slice perhaps several, until xc_slices_merge */
	size_t entry_count, entry_room;
	size_t most;    /* entries from which on slices are joined, to get fewer: XC_SLICES_ENTRIES */
	uint32_t *last; /* of each count, its latest entry, plus one; 0: it has none */
	size_t last_room;
};

enum { XC_SLICES_ENTRIES = 1 << 20 };

void xc_slices_init(struct xc_slices *slices, uint64_t start_ns);
void xc_slices_fini(struct xc_slices *slices);

/* Samples of a count that stand for the time from one instant to another, over which they are spread; equal instants
 * are fine. O(1) for each slice between them. */
void xc_slices_add(struct xc_slices *slices, uint32_t count, uint64_t from_ns, uint64_t to_ns, uint64_t samples);

/* One entry for each count and slice, sorted by count, then slice. */
void xc_slices_merge(struct xc_slices *slices);

#endif
