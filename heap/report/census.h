/* census: counts of a heap's blocks at one moment, by names that outlive the heap, for comparison with another
 * moment. */
#ifndef XC_CENSUS_H
#define XC_CENSUS_H

#include "core/base/arena.h"
#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* Live blocks of one type or arena, or held by one root or one module's roots. */
struct xc_census_row {
	const char *name;
	uint64_t blocks, bytes;
};

struct xc_census_rows {
	struct xc_census_row *items; /* by name */
	size_t count, capacity;
};

struct xc_census {
	struct xc_arena memory; /* owns the names */
	uint64_t blocks, bytes; /* of live blocks */
	struct xc_census_rows types, arenas, holders, modules;
	/* Live blocks in address order, to find new ones. */
	uint64_t *addrs;
	uint64_t *sizes;
	uint32_t *type_of; /* index into types */
	/* Derived from the random bytes that the kernel gives each started program (AT_RANDOM). Two moments with
	 * equal values are of one process or its forks, and their addresses can be compared. 0 if unknown. */
	uint64_t run;
};

/* Counts the heap; makes its graph and types. The heap may be closed afterwards. 20 bytes a live block. Errors:
 * those of the graph. */
XC_MUST_CHECK struct xc_error *xc_census_take(struct xc_heap *heap, struct xc_census *census_out);
void xc_census_fini(struct xc_census *census);

/* Fills a section with the growth from one moment to the other: totals; types by the bytes they grew, with the
 * number and places of new blocks (if both are moments of one process); modules; holders; arenas. At most `limit`
 * rows a table; unchanged names have no row. */
void xc_census_compare(struct xc_section *section, const struct xc_census *old, const struct xc_census *new,
		       size_t limit);

#endif
