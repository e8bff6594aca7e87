/* pointer_map: an open-addressing hash table. It only grows; outgrown tables stay in the arena, which at most doubles
 * the memory and spares users a release. */
#include "dwarf/elf/pointer_map.h"

struct xc_pointer_map_slot {
	const void *a, *b;
	void *answer;
};

enum { FIRST_CAPACITY = 64 };

static size_t hash(const void *a, const void *b)
{
	uint64_t mixed = (uintptr_t)a * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)b * UINT64_C(0xc2b2ae3d27d4eb4f);
	return (size_t)(mixed ^ mixed >> 29);
}

static struct xc_pointer_map_slot *find(struct xc_pointer_map_slot *slots, size_t capacity, const void *a,
					const void *b)
{
	size_t at = hash(a, b) & (capacity - 1);
	while (slots[at].a && (slots[at].a != a || slots[at].b != b))
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static void grow(struct xc_pointer_map *memo, struct xc_arena *arena)
{
	size_t capacity = memo->capacity ? memo->capacity * 2 : FIRST_CAPACITY;
	struct xc_pointer_map_slot *slots = xc_arena_alloc(arena, capacity * sizeof *slots);
	for (size_t i = 0; i < memo->capacity; i++) {
		if (memo->slots[i].a)
			*find(slots, capacity, memo->slots[i].a, memo->slots[i].b) = memo->slots[i];
	}
	memo->slots = slots;
	memo->capacity = capacity;
}

void **xc_pointer_map_at(struct xc_pointer_map *memo, struct xc_arena *arena, const void *a, const void *b)
{
	if (memo->count >= memo->capacity / 2)
		grow(memo, arena);
	struct xc_pointer_map_slot *slot = find(memo->slots, memo->capacity, a, b);
	if (!slot->a) {
		*slot = (struct xc_pointer_map_slot){.a = a, .b = b};
		memo->count++;
	}
	return &slot->answer;
}
