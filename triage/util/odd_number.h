/* odd_number: sizes and indexes that no program means, and the mistake that makes such a number. */
#ifndef XC_ODD_NUMBER_H
#define XC_ODD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct xc_text;

/* Add in words why the size of an allocation is likely no size: "that is 4294967292 × 24: (unsigned)-4 elements of 24
 * bytes". False, and nothing is added, where some machine has as much memory. */
bool xc_odd_number_size(uint64_t bytes, struct xc_text *text);

/* Append what is remarkable in an index: ", that is (unsigned)-1", ", one past the last of 16", ", that is 2 with its
 * bytes reversed", ", that is 200 as a signed number of 8 bits", or nothing. count: the elements of the array; 0: not
 * known; sure: there are no fewer. False when nothing is. */
bool xc_odd_number_index(int64_t index, uint64_t count, bool sure, struct xc_text *text);

#endif
