/* hashtable: a value for each pair of words: an address, a pointer, a number, a hash; open addressing.
 *
 * The one hash table of the tree. A caller who needs its things in order keeps them in an array and the table holds
 * their numbers. Texts are found by their hash; see xc_hash_bytes. Nothing is ever removed. No order of slots is
 * visible, so results do not depend on the hash.
 *
 * Keys are mixed: addresses that differ in a few bits only, such as multiples of a page or of 2^40, do not cluster.
 * The hash has no secret: a caller whose keys are free choices of a hostile file bounds their number.
 *
 * Zeroed, the struct is an empty table. Not thread-safe; xc_hashtable_find alone may run in parallel. */
#ifndef XC_HASHTABLE_H
#define XC_HASHTABLE_H

#include "core/base/arena.h"

union xc_hashtable_value {
	void *pointer;
	uint64_t number;
};

struct xc_hashtable_slot {
	uint64_t a, b; /* both 0: free */
	union xc_hashtable_value value;
};

struct xc_hashtable {
	struct xc_hashtable_slot *slots;
	size_t count, room;            /* room: half of the slots */
	unsigned shift;                /* 64 less the logarithm of the number of slots, a power of two */
	union xc_hashtable_value zero; /* of the key (0, 0) */
};

/* A hash of two words; its high bits depend on all bits of both. */
static inline uint64_t xc_hash_mix(uint64_t a, uint64_t b)
{
	uint64_t mixed = a * UINT64_C(0x9e3779b97f4a7c15) ^ b * UINT64_C(0xc2b2ae3d27d4eb4f);
	return (mixed ^ mixed >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* A hash of bytes (FNV-1a of Fowler, Noll and Vo), begun at `seed`. Different bytes may have equal hashes: compare
 * them, and number the keys (hash, 0), (hash, 1), … until one is equal or free. */
static inline uint64_t xc_hash_bytes(uint64_t seed, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed * UINT64_C(0x9e3779b97f4a7c15);
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Private: the slot of a key other than (0, 0), or the free slot for it. */
static inline struct xc_hashtable_slot *xc_hashtable_slot_of(const struct xc_hashtable *table, uint64_t a, uint64_t b)
{
	size_t last = 2 * table->room - 1, at = (size_t)(xc_hash_mix(a, b) >> table->shift);
	while ((table->slots[at].a != a || table->slots[at].b != b) && (table->slots[at].a | table->slots[at].b))
		at = (at + 1) & last;
	return &table->slots[at];
}

/* Private: twice the slots. */
void xc_hashtable_grow(struct xc_hashtable *table, struct xc_arena *arena);

/* The value of (a, b); zero until the caller stores one. Valid until the next call that adds a key. O(1).
 *
 * Slots come from the arena, where outgrown ones stay (at most as much again); or with arena NULL from malloc, to be
 * freed by xc_hashtable_fini. A table uses one of the two. Ends the program when memory runs out, as xc_alloc does. */
static inline union xc_hashtable_value *xc_hashtable_at(struct xc_hashtable *table, struct xc_arena *arena, uint64_t a,
							uint64_t b)
{
	if (table->count >= table->room)
		xc_hashtable_grow(table, arena);
	if (!(a | b))
		return &table->zero;
	struct xc_hashtable_slot *slot = xc_hashtable_slot_of(table, a, b);
	if (!(slot->a | slot->b)) {
		slot->a = a;
		slot->b = b;
		table->count++;
	}
	return &slot->value;
}

/* The same without adding: NULL for a key that was not added; (0, 0) is always there. */
static inline union xc_hashtable_value *xc_hashtable_find(const struct xc_hashtable *table, uint64_t a, uint64_t b)
{
	if (!(a | b))
		return (union xc_hashtable_value *)(uintptr_t)&table->zero;
	struct xc_hashtable_slot *slot = table->room ? xc_hashtable_slot_of(table, a, b) : NULL;
	return slot && (slot->a | slot->b) ? &slot->value : NULL;
}

/* Frees the slots of a table without arena; the table is empty again. */
void xc_hashtable_fini(struct xc_hashtable *table);

#endif
