/* retention: the memory that each block keeps alive, and that would be free without it.
 *
 * Block d dominates b if every chain of pointers from the roots to b passes through d. Dominators form a tree under
 * one node that represents all roots; the retained size of a block is the size of its subtree. Between that node
 * and the blocks is a node for each holder: a module's data, a thread with its stack, registers and thread-local
 * storage, a mapping. Nothing else keeps alive what a holder retains. dominator.h makes the tree from the graph
 * (both directions) in near-linear time. 16 bytes a block remain; at most 24 are needed meanwhile. */
#ifndef XC_RETENTION_H
#define XC_RETENTION_H

#include "core/report/report.h"
#include "core/base/text.h"
#include "heap/graph/graph.h"

/* A holder of roots. */
struct xc_holder {
	/* XC_ROOT_GLOBAL, XC_ROOT_STACK for all of a thread, XC_ROOT_PLUGIN, XC_ROOT_MAPPING, XC_ROOT_DAMAGED. */
	uint8_t kind;
	uint32_t owner; /* as in struct xc_root */
	uint64_t bytes; /* retained by this holder alone */
	uint64_t count; /* blocks retained by it alone */
	uint64_t roots; /* words that point to blocks */
};

struct xc_retention {
	const struct xc_heap *heap;
	/* By block: its immediate dominator; XC_NO_BLOCK: only holders or all roots dominate it, or it is unreached. */
	uint32_t *dominator;
	uint64_t *bytes;           /* by block: retained, itself included; 0 if unreached */
	uint32_t *count;           /* blocks retained, itself included */
	struct xc_holder *holders; /* ordered by bytes, largest first */
	size_t holder_count;
	uint64_t shared_bytes, shared_count; /* retained by several holders together */
	struct xc_reserve memory[3];
};

XC_MUST_CHECK struct xc_error *xc_retention_of(struct xc_heap *heap, struct xc_retention **retention_out);
void xc_retention_free(struct xc_retention *retention); /* NULL is fine */

/* Tables for reports: RETAINED BLOCKS … by holder, or by type (heap->typing must exist). By type, blocks inside
 * what another block of the same type retains are not counted twice. At most `limit` rows, largest first. */
void xc_retention_by_holder(struct xc_section *section, const struct xc_retention *retention, size_t limit);
void xc_retention_by_type(struct xc_section *section, const struct xc_retention *retention, size_t limit);

#endif
