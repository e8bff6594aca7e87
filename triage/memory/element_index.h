/* element_index: a wild address as an index of the elements of an array: "index 4294967295, that is (unsigned)-1". */
#ifndef XC_ELEMENT_INDEX_H
#define XC_ELEMENT_INDEX_H

#include "core/base/text.h"
#include "triage/crash/crash_context.h"

/* Append "index 4294967295, that is (unsigned)-1, of elements of 0x30 bytes (struct route)": where the faulting
 * address lies as seen from an array. `block` (XC_NO_BLOCK: none) is a block of the heap that holds the array: its type
 * gives the size of the elements, and it may renumber the blocks (block_types.h). False, and nothing is appended, when
 * the element type is not known, or the address is not that of a part of an element.
 *
 * *named_out: a variable or register of the crashed function holds this index; else only the distance shows it. */
bool xc_element_index_in_block(const struct xc_crash_context *crash, uint32_t block, struct xc_text *text,
			       bool *named_out);

/* Append what is remarkable in an index: ", that is (unsigned)-1", or nothing. count: the elements of the array; 0:
 * not known. False when nothing is. */
bool xc_element_index_remark(int64_t index, uint64_t count, struct xc_text *text);

#endif
