/* wild_index: pointers that a large number in a register, used as an index, moved away from their target. */
#ifndef XC_WILD_INDEX_H
#define XC_WILD_INDEX_H

#include "triage/crash/crash_context.h"

struct xc_wild_index {
	xc_addr good;
	const char *what; /* "where a live block begins": why it counts as valid */
	int reg;          /* that holds the number */
	int64_t number;
	uint64_t size; /* of an element */
	bool below;    /* value is good - |number| * size, else good + |number| * size */
	bool several;  /* another number times another size gives the same: the index is a guess */
};

/* Is value a valid pointer plus a multiple of the number in a register other than `reg`? The sign of the number is
 * ignored: loops count down, and 2^31 negated is 2^31 again. False for values that point to memory as they are, and
 * when the numbers lead to several valid places. Of places that are close to each other, one where a block begins
 * wins if it is the only one. */
bool xc_wild_index_find(const struct xc_crash_context *crash, uint64_t value, int reg, struct xc_wild_index *out);

#endif
