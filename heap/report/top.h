/* top: the largest blocks, by their own size or by the memory that they keep alive. */
#ifndef XC_TOP_H
#define XC_TOP_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* The `limit` largest live blocks with their types, and the number of blocks by size. Makes the types; if that
 * fails, a note says why and the table has no types. */
XC_MUST_CHECK struct xc_error *xc_top(struct xc_section *section, struct xc_heap *heap, size_t limit);

/* The `limit` blocks that keep most memory alive, including themselves; then the same by type and by holder
 * (retention.h). Of a chain of one type, such as a list, only the first element is shown, since it keeps the others
 * alive. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_top_retained(struct xc_section *section, struct xc_heap *heap, size_t limit);

#endif
