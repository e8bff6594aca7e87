/* ended_variable: variables of a frame's function that are not in scope at the frame's place: those of blocks that have
 * ended, or not begun, and of inlined functions that do not run. Their memory keeps what they held last. */
#ifndef XC_ENDED_VARIABLE_H
#define XC_ENDED_VARIABLE_H

#include "dwarf/stack/variable.h"

struct xc_ended_variable {
	const char *name; /* lives as long as the debug file */
	xc_addr lo;
	uint64_t size; /* bytes, not 0 */
};

/* Those that have one place in memory for their whole life, in the order of the debug information; a word of them may
 * belong to a variable in scope as well. Returns their number, at most 2,048; the array lives in `arena`. Reads the
 * entries of the whole function. */
size_t xc_ended_variables(const struct xc_frame_context *context, struct xc_arena *arena,
			  struct xc_ended_variable **out);

/* The first one that has the word at addr while no variable in scope does; NULL when there is none. */
const struct xc_ended_variable *xc_ended_variable_at(const struct xc_frame_context *context,
						     const struct xc_ended_variable *variables, size_t count,
						     xc_addr addr);

#endif
