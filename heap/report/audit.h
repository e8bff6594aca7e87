/* audit: the damage in a heap, and its probable culprit.
 *
 * The walk records headers that break rules. An audit lets the allocators check their lists and caches too, and
 * finds for each damage the block that was overrun, or used after it was freed. */
#ifndef XC_AUDIT_H
#define XC_AUDIT_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* Lets the allocators add damage that their walk does not see; once, later calls do nothing. Afterwards damage is
 * in address order, and heap->audit_coverage has counts of what was examined (allocator.h). */
void xc_audit_lists(struct xc_heap *heap);

/* The damage to report first: that of the lowest header, since an overrun goes upwards and breaks lists as a
 * consequence; else the lowest damage. NULL if there is none. */
const struct xc_damage *xc_audit_first(const struct xc_heap *heap);

/* The number of bytes in which damage hides the blocks. */
uint64_t xc_audit_lost(const struct xc_heap *heap);

/* Fills the section of `heap check`: the first damage with its likely culprit, all damage in a table, lost memory,
 * and the checks made. A heap without damage gets a section that says so. Types and owners of blocks are reported
 * if available; for a damaged heap they are made. */
void xc_audit(struct xc_section *section, struct xc_heap *heap);

#endif
