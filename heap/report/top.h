/* top: the largest blocks, by their own size or by what they keep alive. */
#ifndef XC_TOP_H
#define XC_TOP_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* The `limit` largest live blocks with their types, and how many blocks there are of which size. Makes the types; without them (a
 * note says why) the table has none. */
XC_MUST_CHECK struct xc_error *xc_top(struct xc_section *section, struct xc_heap *heap, size_t limit);

/* The `limit` blocks that keep most memory alive, themselves included; then the same by type and by who holds the roots
 * (retention.h). Of a chain of one type, such as a list, only the first is shown: it keeps all others. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_top_retained(struct xc_section *section, struct xc_heap *heap, size_t limit);

#endif
