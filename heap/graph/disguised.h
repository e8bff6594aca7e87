/* disguised: pointers with other bits around them: in the payload of a NaN (boxed values of interpreters), with a tag or
 * a counter in the upper 16 bits, or above a counter in the lower 16. Such a word is no address, but programs that
 * use it keep a block alive. So what only such words lead to is possibly leaked, not leaked. */
#ifndef XC_DISGUISED_H
#define XC_DISGUISED_H

#include "heap/graph/graph.h"

/* The two addresses that a word may hold so. False: it is a plain address, or a number as small as one. */
static inline bool xc_disguised_addresses(uint64_t word, xc_addr out[2])
{
	enum { ADDRESS_BITS = 47, TAG_BITS = 16, LOW_TAGS = 7 };
	const uint64_t upper = word >> ADDRESS_BITS;
	out[0] = word & UINT64_MAX >> TAG_BITS & ~(uint64_t)LOW_TAGS;
	out[1] = word >> TAG_BITS & ~(uint64_t)LOW_TAGS;
	return upper != 0 && upper != UINT64_MAX >> ADDRESS_BITS;
}

/* Adds them to a graph whose search is done, as edges and roots to the interior, where they lead to the beginning of a
 * block that is not reached; *count_out: their number. The graph must be searched again if there are any. Reads all live
 * blocks and root ranges once, in parallel, if any live block is not reached; only where words have 8 bytes and the
 * host's byte order. Errors: XC_ERR_LIMIT. */
XC_MUST_CHECK struct xc_error *xc_graph_find_disguised(struct xc_graph *graph, size_t *count_out);

#endif
