/* leaks: the report of `heap leaks`: leaked blocks, largest structures first, similar ones in one row. Which block is
 * leaked: xc_graph_leaked (heap/graph/graph.h). */
#ifndef XC_LEAKS_H
#define XC_LEAKS_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

struct xc_leaks_options {
	bool possible; /* also report what only interior or stale pointers reach, in a table of its own: "possibly" */
	bool types;    /* make the types first, if there is anything to list */
	size_t limit;  /* rows; 0: all */
};

/* Rows group blocks by type (if types are made) or size, and by their links: one row for the heads of structures
 * with the blocks of their own group that follow ("list by .next, 21 long"), one for blocks that those of another
 * group hold. Makes the graph. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_leaks(struct xc_section *section, struct xc_heap *heap,
					const struct xc_leaks_options *options);

#endif
