/* index_scan: what one unit defines by name.
 *
 * A scan belongs to one thread and takes in unit after unit; scans of several threads are merged by index_build. What equals
 * something the scan has already is folded into it: a type with the same qualified name, kind, size and line (in C also with the
 * same members), an external function or variable of the same name. */
#ifndef XC_INDEX_SCAN_H
#define XC_INDEX_SCAN_H

#include "dwarf/index/index_items.h"

/* The hash of a string, by where it stands. */
struct xc_index_hash {
	uint64_t place, hash;
};

struct xc_index_scan {
	struct xc_index_items all;
	/* of the unit at hand */
	struct xc_die_scan *scan;
	const struct xc_die_scan_space *space;
	struct xc_index_hash *hashes; /* of its strings, as many as fit */
	unsigned hash_bits;
	struct xc_die_scan_unit unit;
	uint32_t number;
	bool is_c; /* its language: no scopes inside structs */
	bool is_rust;
	struct xc_index_extent *extents;
	size_t extent_count, extent_capacity;
	struct xc_index_origin *origins;
	size_t origin_count, origin_capacity;
	uint64_t damaged;     /* units that could not be read to their end */
	uint64_t unit_macros; /* offset of its list in .debug_macro; UINT64_MAX: it has none */
	uint64_t macros_left; /* bytes that may still be read: in a hostile file all units may refer to the same list */
	/* For index_far: functions and variables, also those only declared, are put here, one by one, and not folded. */
	bool apart;
	struct xc_index_item *named;
	size_t named_count, named_capacity;
};

/* Take in a unit of `space` by its number. */
void xc_index_scan_unit(struct xc_index_scan *scan, const struct xc_die_scan_space *space,
			const struct xc_die_scan_unit *unit, uint32_t number);

void xc_index_scan_fini(struct xc_index_scan *scan);

#endif
