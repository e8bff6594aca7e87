/* retention: what each block keeps alive: the memory that would be free if it were.
 *
 * Block d dominates b when every chain of pointers from the roots to b passes d. Dominators form a tree under one node that stands
 * for all roots; the retained size of a block is the size of its subtree. Between that node and the blocks stands one for each holder: a
 * module's data, a thread with its stack, registers and thread-local storage, a mapping; what one retains, nothing else keeps alive.
 * Made from the graph (both ways) by dominator.h, in near-linear time; 16 bytes a block stay, 24 at most are needed meanwhile. */
#ifndef XC_RETENTION_H
#define XC_RETENTION_H

#include "core/report/report.h"
#include "core/base/text.h"
#include "heap/graph/graph.h"

/* Who holds roots. */
struct xc_holder {
	uint8_t kind; /* XC_ROOT_GLOBAL, XC_ROOT_STACK for all of a thread, XC_ROOT_PLUGIN, XC_ROOT_MAPPING, XC_ROOT_DAMAGED */
	uint32_t owner; /* as in struct xc_root */
	uint64_t bytes; /* retained by it alone */
	uint64_t count; /* blocks so */
	uint64_t roots; /* words that point to blocks */
};

struct xc_retention {
	const struct xc_heap *heap;
	uint32_t *
		dominator; /* by block: the block that dominates it next; XC_NO_BLOCK: only holders or all roots together do, or it is not reached */
	uint64_t *bytes;   /* by block: retained, itself included; 0 for what is not reached */
	uint32_t *count;   /* blocks retained, itself included */
	struct xc_holder *holders; /* most bytes first */
	size_t holder_count;
	uint64_t shared_bytes, shared_count; /* what several holders keep alive together */
	struct xc_reserve memory[3];
};

XC_MUST_CHECK struct xc_error *xc_retention_of(struct xc_heap *heap, struct xc_retention **retention_out);
void xc_retention_free(struct xc_retention *retention); /* NULL is fine */

/* Tables for reports: RETAINED BLOCKS … by holder; by type (heap->typing must be there), where blocks within what another block of the
 * same type retains are not counted twice. At most `limit` rows, most bytes first. */
void xc_retention_by_holder(struct xc_section *section, const struct xc_retention *retention, size_t limit);
void xc_retention_by_type(struct xc_section *section, const struct xc_retention *retention, size_t limit);

#endif
