/* allocator: the list of allocators, and what a walk over one reports. */
#include "heap/blocks/allocator.h"

#define ENTRY(name) &xc_allocator_##name,

const struct xc_allocator *const xc_allocator_list[] = {XC_ALLOCATORS(ENTRY) NULL};

void xc_walk_add_damage(struct xc_walk *walk, const struct xc_damage *damage)
{
	if (walk->damage_count > XC_DAMAGES)
		return;
	walk->damages = xc_grow(walk->damages, walk->damage_count, &walk->damage_capacity, sizeof *walk->damages);
	walk->damages[walk->damage_count++] = *damage;
}
