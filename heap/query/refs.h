/* refs: who points to an address, and by which chain a root keeps it alive. */
#ifndef XC_REFS_H
#define XC_REFS_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* `heap refs`: the words that point into the live block with addr in it: roots first, then those of blocks, by address; at most `limit`
 * (0: all). Into a free block, or to addr itself where it is in no block, any word of memory counts, found by looking at all of it. Makes
 * the graph with its way back, and the types. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_refs(struct xc_section *section, struct xc_heap *heap, xc_addr addr, size_t limit);

/* `heap path`: the shortest chain from a root to the block with addr in it, step by step. Of a leaked block: the head of the
 * structure that it is of. Errors: XC_ERR_NOT_FOUND when addr is in no live block; those of the graph. */
XC_MUST_CHECK struct xc_error *xc_path(struct xc_section *section, struct xc_heap *heap, xc_addr addr);

/* The first word of one block that points into another; 0 when there is none any more. */
xc_addr xc_refs_word(const struct xc_heap *heap, uint32_t from, uint32_t to);

#endif
