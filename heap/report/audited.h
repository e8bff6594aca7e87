/* audited: what an audit has looked at, and what it could not see: an allocator that puts nothing between its blocks has nothing
 * there that could be found damaged. Private to audit.c. */
#ifndef XC_AUDITED_H
#define XC_AUDITED_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* Of a heap in which nothing was found, behind xc_audit_lists: "no damage was found", and how far that goes. */
const char *xc_audited_headline(struct xc_section *section, const struct xc_heap *heap);

/* Blocks, headers, free lists and caches that were looked at, and for each allocator what was compared. */
void xc_audited_report(struct xc_section *section, const struct xc_heap *heap);

#endif
