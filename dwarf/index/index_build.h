/* index_build: builds an index from debug information, with several threads. */
#ifndef XC_INDEX_BUILD_H
#define XC_INDEX_BUILD_H

#include "core/base/progress.h"
#include "dwarf/index/index_format.h"

/* Identifies a split unit (split.h). */
struct xc_index_part {
	uint64_t skeleton, signature;
};

/* The sections to scan: spaces by enum xc_index_space, and from XC_INDEX_SPLIT on one for each of `parts`; absent
 * ones are empty cursors. */
struct xc_index_input {
	const struct xc_die_scan_space *spaces;
	size_t space_count;
	const struct xc_index_part *parts;
	const uint64_t *only; /* offsets of units in the first space, ascending: scan only these; NULL: all */
	size_t only_count;
	unsigned jobs;                /* threads; 0: one per core */
	struct xc_progress *progress; /* may be NULL */
};

/* The kept form (index_format.h), malloc'ed, with `key` in it. Damaged units are indexed as far as they can be read.
 * NULL when there are more than 2^32 - 2 units or definitions, or when `only` selects units whose definitions have
 * names in other units. Its bytes do not depend on the number of threads. Cost: reads all of .debug_info and the
 * strings of the entries, about 0.4 s a GB and thread without strings; 48 bytes a definition while building. */
void *xc_index_build(const struct xc_index_input *input, const uint8_t key[XC_INDEX_KEY], size_t *size_out);

#endif
