/* absurd_size: what is wrong with the size of an allocation that no machine could serve. */
#ifndef XC_ABSURD_SIZE_H
#define XC_ABSURD_SIZE_H

#include <stdbool.h>
#include <stdint.h>

struct xc_text;

/* Add in words why a size is likely no size: "that is 4294967292 × 24: (unsigned)-4 elements of 24 bytes". False, and
 * nothing is added, where some machine has as much memory. */
bool xc_absurd_size_add(uint64_t bytes, struct xc_text *text);

#endif
