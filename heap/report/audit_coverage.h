/* audit_coverage: what an audit has looked at, and what it could not see: an allocator that puts nothing between its blocks has nothing
 * there that could be found damaged. Private to audit.c. */
#ifndef XC_AUDIT_COVERAGE_H
#define XC_AUDIT_COVERAGE_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* Of a heap in which nothing was found, behind xc_audit_lists: "no damage was found", and how far that goes. */
const char *xc_audit_coverage_headline(struct xc_section *section, const struct xc_heap *heap);

/* Blocks, headers, free lists and caches that were looked at, and for each allocator what was compared. */
void xc_audit_coverage_report(struct xc_section *section, const struct xc_heap *heap);

#endif
