/* audit: what is damaged in a heap, and who probably did it.
 *
 * The walk has noted the headers that break rules; an audit has the allocators look at their lists and caches too, and works out
 * for each damage which block was written past its end, or used after it was freed. */
#ifndef XC_AUDIT_H
#define XC_AUDIT_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* Have the allocators add what their walk does not see; once, later calls do nothing. Damages are in address order
 * afterwards; heap->audit_coverage tells what was looked at (allocator.h). */
void xc_audit_lists(struct xc_heap *heap);

/* The damage to tell first: that of the lowest header, since an overrun goes upwards and lists break as its consequence; else the lowest
 * of all. NULL when there is none. */
const struct xc_damage *xc_audit_first(const struct xc_heap *heap);

/* Bytes whose blocks are not known, for the damage there. */
uint64_t xc_audit_lost(const struct xc_heap *heap);

/* Fill the section of `heap check`: the first damaged place with its likely culprit, all others in a table, what was lost, what was
 * checked. A section for a heap without damage says so. Types and owners of blocks are told when they can be had: for a damaged
 * heap they are made. */
void xc_audit(struct xc_section *section, struct xc_heap *heap);

#endif
