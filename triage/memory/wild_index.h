/* wild_index: pointers that a large number in a register, used as an index, moved away from their target. */
#ifndef XC_WILD_INDEX_H
#define XC_WILD_INDEX_H

#include "core/base/text.h"
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

/* ---- element_index.c: an index in elements ---- */

/* Append "index 4294967295, that is (unsigned)-1, of elements of 0x30 bytes (struct route)": where the faulting
 * address lies as seen from an array. `block` (XC_NO_BLOCK: none) is a block of the heap that holds the array: its type
 * gives the size of the elements, and it may renumber the blocks (block_types.h). False, and nothing is appended, when
 * the element type is not known, or the address is not that of a part of an element.
 *
 * *named_out: a variable or register of the crashed function holds this index; else only the distance shows it. */
bool xc_element_index_in_block(const struct xc_crash_context *crash, uint32_t block, struct xc_text *text,
			       bool *named_out);

#endif
