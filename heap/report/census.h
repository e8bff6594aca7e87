/* census: what a heap consists of at one moment, in numbers and names that outlive it: for comparing two moments. */
#ifndef XC_CENSUS_H
#define XC_CENSUS_H

#include "core/base/arena.h"
#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* Live blocks of one type, one arena, or held by one root or one module's roots. */
struct xc_census_row {
	const char *name;
	uint64_t blocks, bytes;
};

struct xc_census_rows {
	struct xc_census_row *items; /* by name */
	size_t count, capacity;
};

struct xc_census {
	struct xc_arena memory; /* of names */
	uint64_t blocks, bytes; /* live */
	struct xc_census_rows types, arenas, holders, modules;
	/* Live blocks in address order: for telling new ones. */
	uint64_t *addrs;
	uint64_t *sizes;
	uint32_t *type_of; /* index into types */
	/* Of the random bytes that the kernel gives each program it starts (AT_RANDOM): two moments with the same ones are of one
	 * process, or of its forks, and their addresses can be compared. 0 when unknown. */
	uint64_t run;
};

/* Count the heap; makes its graph and types. The heap may be closed afterwards. 20 bytes a live block. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_census_take(struct xc_heap *heap, struct xc_census *census_out);
void xc_census_fini(struct xc_census *census);

/* Fill a section with what grew from one moment to the other: totals; types by the bytes they grew, with how many of their blocks are
 * new and where (when both are moments of one process); modules; holders; arenas. At most `limit` rows a table; what did not change has none. */
void xc_census_compare(struct xc_section *section, const struct xc_census *old, const struct xc_census *new,
		       size_t limit);

#endif
