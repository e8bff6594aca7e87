/* objects: one line for each block, for programs and pipes. */
#ifndef XC_OBJECTS_H
#define XC_OBJECTS_H

#include <stdio.h>

#include "heap/types/typing.h"

/* Selects blocks; all zeroes select all. */
struct xc_object_filter {
	const char *type;  /* only blocks of the type with this name */
	const char *state; /* "live", "leaked", "free", "unknown" */
	uint64_t least;    /* bytes */
	uint64_t limit;    /* lines; 0: no limit */
};

/* Writes the blocks in address order. As JSON lines: {"addr":"0x…","size":N,"state":"live|leaked|free|unknown",
 * "possible":true|false,"type":"…"|null,"count":N,"confidence":"exact|strong|weak"|null,"via":"…"|null}. Live blocks
 * that a root reaches are "live", others "leaked"; those that are possibly leaked (graph.h) are live and "possible". As
 * text: the same in columns, and for free blocks the list that holds them. Leaks require the graph, and types the
 * typing. If one cannot be made, *why_out gets the error (owned by the caller) and the columns are null. About 0.2 µs a
 * line. Errors: XC_ERR_IO; XC_ERR_NOT_FOUND for a type that neither a block nor the program has, with the nearest
 * names. */
XC_MUST_CHECK struct xc_error *xc_objects_write(struct xc_heap *heap, const struct xc_object_filter *filter,
						bool as_json, FILE *out, struct xc_error **why_out);

/* Does the filter select the block? `limit` is left to the caller. State and type are known only after graph and
 * types are made. */
bool xc_object_wanted(const struct xc_heap *heap, const struct xc_object_filter *filter, uint32_t block);

/* "live", "leaked", "free", "unknown" */
const char *xc_object_state(const struct xc_heap *heap, uint32_t block);

#endif
