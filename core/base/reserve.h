/* reserve: large arrays whose final size is not known: address space is taken at once, memory only where it is written.
 *
 * An array so made never moves, starts as zeroes, and costs what was touched of it. */
#ifndef XC_RESERVE_H
#define XC_RESERVE_H

#include "core/base/base.h"

struct xc_reserve {
	void *items;
	size_t size; /* bytes of address space */
};

/* Room for `count` items of `size` bytes. Ends the program with a message when there is not even address space: counts
 * that come from the input are bounded by what the input's bytes can hold before. count 0 gives items NULL. */
struct xc_reserve xc_reserve_new(size_t count, size_t size);
void xc_reserve_free(struct xc_reserve *reserve); /* zeroed ones are fine */

/* Give back the memory behind the first `count` items of `size` bytes. */
void xc_reserve_trim(struct xc_reserve *reserve, size_t count, size_t size);

#endif
