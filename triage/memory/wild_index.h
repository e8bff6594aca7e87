/* wild_index: pointers that a large number in a register, taken as an index, led away from what they should point to. */
#ifndef XC_WILD_INDEX_H
#define XC_WILD_INDEX_H

#include "triage/crash/crash_context.h"

struct xc_wild_index {
	xc_addr good;
	const char *what; /* "where a live block begins": why it counts as good */
	int reg;          /* that holds the number */
	int64_t number;
	uint64_t size; /* of an element */
	bool below;    /* value is good - |number| * size, else good + |number| * size */
	bool several;  /* another number times another size is the same: which of them is the index is a guess */
};

/* Is value a good pointer and a number that another register than `reg` holds, some times? The number's sign is not looked at: loops count
 * down, and 2^31 negated is 2^31 again. False for values that lead to memory as they are, and where numbers lead to several good places: of
 * those that are close to each other the only one where a block begins is it. */
bool xc_wild_index_find(const struct xc_crash_context *crash, uint64_t value, int reg, struct xc_wild_index *out);

#endif
