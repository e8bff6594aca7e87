/* adjacency: the links between numbered nodes, in compressed rows: the targets of node n are to[start[n]] …
 * to[start[n + 1] - 1].
 *
 * The top bit of an entry of `to` is reserved for the caller. */
#ifndef XC_ADJACENCY_H
#define XC_ADJACENCY_H

#include "core/base/base.h"

#define XC_ADJACENCY_MARK 0x80000000U

struct xc_adjacency {
	uint32_t nodes;
	const uint32_t *start; /* nodes + 1 */
	const uint32_t *to;
};

/* Makes the transposed rows. start has nodes + 1 zeroes, to has room for all entries. Rows are in ascending order,
 * without marks. Runs in parallel. */
void xc_adjacency_transpose(const struct xc_adjacency *links, unsigned jobs, uint32_t *start, uint32_t *to);

#endif
