/* hashtable: growth. */
#include "core/base/hashtable.h"

#include <stdlib.h>

enum { FIRST_BITS = 6 };

void xc_hashtable_grow(struct xc_hashtable *table, struct xc_arena *arena)
{
	struct xc_hashtable larger = *table;
	larger.shift = table->room ? table->shift - 1 : 64 - FIRST_BITS;
	larger.room = (size_t)1 << (63 - larger.shift);
	size_t size = 2 * larger.room * sizeof *larger.slots;
	larger.slots = arena ? xc_arena_alloc(arena, size) : xc_alloc(size);
	for (size_t i = 0; i < 2 * table->room; i++) {
		const struct xc_hashtable_slot *old = &table->slots[i];
		if (old->a | old->b)
			*xc_hashtable_slot_of(&larger, old->a, old->b) = *old;
	}
	if (!arena)
		free(table->slots);
	*table = larger;
}

void xc_hashtable_fini(struct xc_hashtable *table)
{
	free(table->slots);
	*table = (struct xc_hashtable){0};
}
