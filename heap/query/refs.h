/* refs: the pointers to an address, and the chain by which a root keeps it alive. */
#ifndef XC_REFS_H
#define XC_REFS_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* `heap refs`: the words that point into the live block that contains addr: roots first, then those of blocks, by
 * address; at most `limit` (0: all). For a free block, or for addr itself outside all blocks, any word of memory
 * counts; all memory is searched. Makes the graph with its reverse direction, and the types. Errors: those of the
 * graph. */
XC_MUST_CHECK struct xc_error *xc_refs(struct xc_section *section, struct xc_heap *heap, xc_addr addr, size_t limit);

/* `heap path`: the shortest chain from a root to the block that contains addr, step by step. For a leaked block:
 * the head of its structure. Errors: XC_ERR_NOT_FOUND if addr is in no live block; those of the graph. */
XC_MUST_CHECK struct xc_error *xc_path(struct xc_section *section, struct xc_heap *heap, xc_addr addr);

/* The first word of one block that points into another; 0 if there is none any more. */
xc_addr xc_refs_word(const struct xc_heap *heap, uint32_t from, uint32_t to);

#endif
