/* objects: one line for each block, for programs and for pipes. */
#ifndef XC_OBJECTS_H
#define XC_OBJECTS_H

#include <stdio.h>

#include "heap/types/typing.h"

/* Which blocks; zeroes: all. */
struct xc_object_filter {
	const char *type;  /* only blocks of the type with this name */
	const char *state; /* "live", "leaked", "free", "unknown" */
	uint64_t least;    /* bytes */
	uint64_t limit;    /* lines; 0: no limit */
};

/* Write the blocks in address order. As JSON lines: {"addr":"0x…","size":N,"state":"live|leaked|free|unknown",
 * "type":"…"|null,"count":N,"confidence":"exact|strong|weak"|null,"via":"…"|null}; live blocks that a root reaches are "live", others
 * "leaked". As text: the same in columns, and of free blocks where they are kept.
 * Leaks need the graph and types the typing: where they cannot be made, *why_out gets the error (the caller's) and the
 * columns stay null. About 0.2 µs a line. Errors: XC_ERR_IO; XC_ERR_NOT_FOUND for a type that neither a block
 * nor the program has, with the nearest names. */
XC_MUST_CHECK struct xc_error *xc_objects_write(struct xc_heap *heap, const struct xc_object_filter *filter,
						bool as_json, FILE *out, struct xc_error **why_out);

/* Does the filter take the block? `limit` is for the caller. State and type are told only once graph and types are made. */
bool xc_object_wanted(const struct xc_heap *heap, const struct xc_object_filter *filter, uint32_t block);

/* "live", "leaked", "free", "unknown" */
const char *xc_object_state(const struct xc_heap *heap, uint32_t block);

#endif
