/* pointer_map: a value for each pair of pointers (a DIE, a place), kept for as long as the arena lives. */
#ifndef XC_POINTER_MAP_H
#define XC_POINTER_MAP_H

#include "core/base/hashtable.h"

struct xc_pointer_map {
	struct xc_hashtable table;
};

/* The slot for the value of (a, b); holds NULL until the caller stores one. Valid until the next call. O(1); b may be
 * NULL, a may not. */
static inline void **xc_pointer_map_at(struct xc_pointer_map *memo, struct xc_arena *arena, const void *a,
				       const void *b)
{
	return &xc_hashtable_at(&memo->table, arena, (uintptr_t)a, (uintptr_t)b)->pointer;
}

#endif
