/* adjacency: who leads to whom among numbered nodes, in compressed rows: what node n leads to is to[start[n]] … to[start[n + 1] - 1].
 *
 * The highest bit of an entry of `to` is its maker's, and no part of the number. */
#ifndef XC_ADJACENCY_H
#define XC_ADJACENCY_H

#include "core/base/base.h"

#define XC_ADJACENCY_MARK 0x80000000U

struct xc_adjacency {
	uint32_t nodes;
	const uint32_t *start; /* nodes + 1 */
	const uint32_t *to;
};

/* Make the rows of the way back: start of nodes + 1 zeroes, to with room for all entries. Rows come out in ascending order, without
 * marks. In parallel. */
void xc_adjacency_transpose(const struct xc_adjacency *links, unsigned jobs, uint32_t *start, uint32_t *to);

#endif
