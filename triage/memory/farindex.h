/* farindex: pointers that a large number in a register, taken as an index, led away from what they should point to. */
#ifndef XC_FARINDEX_H
#define XC_FARINDEX_H

#include "triage/crash/inquiry.h"

struct xc_farindex {
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
bool xc_farindex_find(const struct xc_inquiry *q, uint64_t value, int reg, struct xc_farindex *out);

#endif
