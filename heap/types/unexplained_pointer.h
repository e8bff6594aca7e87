/* stray: does a module's data hold pointers to blocks that none of its known variables explains?
 *
 * Names of variables come from an index; static variables of functions are in none, and finding them means to walk through all debug
 * information of the module. Of most libraries that is in vain: nothing there points to the heap but what is known already. */
#ifndef XC_UNEXPLAINED_POINTER_H
#define XC_UNEXPLAINED_POINTER_H

#include "heap/blocks/heap.h"

struct xc_extent {
	xc_addr lo, hi; /* inclusive */
};

struct xc_extents {
	struct xc_extent *items; /* malloc'ed; zeroes to begin with */
	size_t count, capacity;
};

void xc_extents_add(struct xc_extents *extents, xc_addr addr, uint64_t size);
void xc_extents_fini(struct xc_extents *extents);

/* Does an aligned word of the module's writable memory, outside of the extents (which are sorted), lie in a block that is not free? Reads
 * of it what the process has written. */
bool xc_unexplained_pointer_exists(const struct xc_heap *heap, const struct xc_module *module,
				   struct xc_extents *extents);

#endif
