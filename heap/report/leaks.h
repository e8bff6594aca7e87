/* leaks: what `heap leaks` tells: leaked blocks, the largest structures first, those that are alike in one row. */
#ifndef XC_LEAKS_H
#define XC_LEAKS_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

struct xc_leaks_options {
	bool possible; /* what is reached through interior pointers only, instead */
	bool types;    /* work out the types first, when there are leaks at all */
	size_t limit;  /* rows; 0: all */
};

/* Rows are put together by type (where types are worked out) or size, and by how the blocks hang together:
 * one row for the heads of structures with what follows them in kind ("list by .next, 21 long"), one for what blocks of another
 * kind hold. Makes the graph. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_leaks(struct xc_section *section, struct xc_heap *heap,
					const struct xc_leaks_options *options);

#endif
