/* audit_coverage: what an audit examined, and what it cannot see: an allocator without data between its blocks has
 * nothing there that could be found damaged. Private to audit.c. */
#ifndef XC_AUDIT_COVERAGE_H
#define XC_AUDIT_COVERAGE_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* For a heap without damage, after xc_audit_lists: "no damage was found", with the limits of that statement. */
const char *xc_audit_coverage_headline(struct xc_section *section, const struct xc_heap *heap);

/* The numbers of blocks, headers, free lists and caches examined, and for each allocator the comparisons made. */
void xc_audit_coverage_report(struct xc_section *section, const struct xc_heap *heap);

#endif
