/* index_far: definitions whose names are in another unit.
 *
 * Link-time optimization puts code into separate units, whose functions refer to the units of the sources; dwz moves
 * what several units share into separate units, or into another file. */
#ifndef XC_INDEX_FAR_H
#define XC_INDEX_FAR_H

#include "dwarf/index/index_scan.h"

/* A scanned unit; its number is its index in the list, which is sorted by space and offset. */
struct xc_index_listed {
	struct xc_die_scan_unit unit;
	uint32_t space;
};

struct xc_index_listing {
	const struct xc_die_scan_space *spaces; /* by enum xc_index_space */
	const struct xc_index_listed *units;
	size_t count;
};

/* Are there any far items? */
bool xc_index_far_any(const struct xc_index_items *all);

/* Name the far items of `all`, or fold them into the equal ones that have no place yet. Drop those that cannot be
 * named and those that exist already. Nothing can be added to `all` or found in it afterwards. Cost: scans the units
 * with their origins once more, at most four times. */
void xc_index_far_resolve(const struct xc_index_listing *listing, struct xc_index_items *all);

#endif
