/* index_scan: the definitions of one unit, by name.
 *
 * A scan belongs to one thread and takes in one unit after another; index_build merges the scans of several threads.
 * A definition that equals one already found is folded into it: a type with the same qualified name, kind, size and
 * line (in C also with the same members), an external function or variable of the same name. */
#ifndef XC_INDEX_SCAN_H
#define XC_INDEX_SCAN_H

#include "dwarf/index/index_items.h"

/* The hash of a string, by the place of the string. */
struct xc_index_hash {
	uint64_t place, hash;
};

struct xc_index_scan {
	struct xc_index_items all;
	/* of the current unit */
	struct xc_die_scan *scan;
	const struct xc_die_scan_space *space;
	struct xc_index_hash *hashes; /* a cache of hashes of its strings */
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
	/* For index_far: functions and variables, also those only declared, are listed here and not folded. */
	bool apart;
	struct xc_index_item *named;
	size_t named_count, named_capacity;
};

/* Add a unit of `space`, which has this number. */
void xc_index_scan_unit(struct xc_index_scan *scan, const struct xc_die_scan_space *space,
			const struct xc_die_scan_unit *unit, uint32_t number);

void xc_index_scan_fini(struct xc_index_scan *scan);

#endif
