/* reserve: large arrays of unknown final size: address space is reserved at once, memory is used only where written.
 *
 * Such an array never moves, is zeroed, and costs only the pages touched. */
#ifndef XC_RESERVE_H
#define XC_RESERVE_H

#include "core/base/base.h"

struct xc_reserve {
	void *items;
	size_t size; /* bytes of address space */
};

/* Reserve `count` items of `size` bytes. Ends the program with a message when address space runs out: the caller bounds
 * counts that come from the input by the size of the input. count 0 gives items NULL. */
struct xc_reserve xc_reserve_new(size_t count, size_t size);
void xc_reserve_free(struct xc_reserve *reserve); /* zeroed ones are fine */

/* Release the memory after the first `count` items of `size` bytes. */
void xc_reserve_trim(struct xc_reserve *reserve, size_t count, size_t size);

/* Release the memory of the items from `from` up to `to`, whole pages only; they are zero afterwards. The array keeps
 * its place. */
void xc_reserve_drop(const struct xc_reserve *reserve, size_t from, size_t to, size_t size);

#endif
