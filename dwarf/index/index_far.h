/* index_far: definitions whose names stand in another unit.
 *
 * Link-time optimisation puts code into units of its own, whose functions refer to the units of the sources; dwz moves what
 * several units share into units of their own, or into another file. */
#ifndef XC_INDEX_FAR_H
#define XC_INDEX_FAR_H

#include "dwarf/index/index_scan.h"

/* A unit that is scanned; its number is its place in the list, which is sorted by space and offset. */
struct xc_index_listed {
	struct xc_die_scan_unit unit;
	uint32_t space;
};

struct xc_index_listing {
	const struct xc_die_scan_space *spaces; /* by enum xc_index_space */
	const struct xc_index_listed *units;
	size_t count;
};

/* Are there any? */
bool xc_index_far_any(const struct xc_index_items *all);

/* Give the far items of `all` their names, or fold them into the equal ones that have no place yet; drop those that cannot be
 * named, or of which there is one already. Nothing can be added to `all` or found in it afterwards. Cost: scans the units in
 * which their origins stand once more, at most four times. */
void xc_index_far_resolve(const struct xc_index_listing *listing, struct xc_index_items *all);

#endif
