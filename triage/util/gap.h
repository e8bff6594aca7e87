/* gap: the unmapped addresses around one, from one mapping to the next. */
#ifndef XC_GAP_H
#define XC_GAP_H

#include "core/process/process.h"

struct xc_mapping_gap {
	xc_addr lo, hi;                         /* first and last */
	const struct xc_mapping *below, *above; /* NULL: none; then it has no end there */
};

/* The gap around an address that is not mapped. */
struct xc_mapping_gap xc_gap_at(const struct xc_process *process, xc_addr addr);

/* Its bytes; 0 when it has an end on one side only, or is larger than gaps between mappings that belong together. */
uint64_t xc_gap_size(const struct xc_mapping_gap *gap);

/* Bytes from the address to the next mapping above, which the kernel places from the top down; UINT64_MAX: none. */
uint64_t xc_gap_above(const struct xc_mapping_gap *gap, xc_addr addr);

#endif
