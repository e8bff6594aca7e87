/* unexplained_pointer: does a module's data contain pointers to blocks that none of its known variables explains?
 *
 * Variables are found by an index of names. Static variables of functions are in no index, and finding them
 * requires a walk through all debug information of the module. For most libraries that is useless: only known
 * variables point to the heap. */
#ifndef XC_UNEXPLAINED_POINTER_H
#define XC_UNEXPLAINED_POINTER_H

#include "heap/blocks/heap.h"

struct xc_extent {
	xc_addr lo, hi; /* inclusive */
};

struct xc_extents {
	struct xc_extent *items; /* malloc'ed; initially zero */
	size_t count, capacity;
};

void xc_extents_add(struct xc_extents *extents, xc_addr addr, uint64_t size);
void xc_extents_fini(struct xc_extents *extents);

/* Is a word of the module's writable memory, outside the extents, a pointer into a block that is not free? Unaligned
 * words count too, in mappings of up to 1 MiB. Sorts the extents. Reads only memory that the process has written. */
bool xc_unexplained_pointer_exists(const struct xc_heap *heap, const struct xc_module *module,
				   struct xc_extents *extents);

#endif
