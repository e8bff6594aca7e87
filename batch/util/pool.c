/* pool: open addressing. Only a few slots after the hashed one are probed. */
#include "batch/util/pool.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 1 << 10, REACH = 16 };

struct xc_pool_slot {
	const void *bytes; /* NULL: empty */
	size_t len;
	uint64_t hash;
};

/* FNV-1a (Fowler, Noll, Vo), with the high bits mixed into the low ones. */
static uint64_t hash_of(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* The slot of these bytes, or an empty slot for them; NULL: no room within reach. */
static struct xc_pool_slot *slot_of(const struct xc_pool *pool, const void *bytes, size_t len, uint64_t hash)
{
	for (size_t i = 0; i < REACH; i++) {
		struct xc_pool_slot *slot = &pool->slots[(hash + i) & (pool->capacity - 1)];
		if (!slot->bytes || (slot->hash == hash && slot->len == len && !memcmp(slot->bytes, bytes, len)))
			return slot;
	}
	return NULL;
}

static void grow(struct xc_pool *pool)
{
	const struct xc_pool old = *pool;
	pool->capacity = old.capacity ? 2 * old.capacity : FIRST;
	pool->slots = xc_alloc(pool->capacity * sizeof *pool->slots);
	for (size_t i = 0; i < old.capacity; i++) {
		const struct xc_pool_slot *from = &old.slots[i];
		struct xc_pool_slot *to = from->bytes ? slot_of(pool, from->bytes, from->len, from->hash) : NULL;
		if (to)
			*to = *from;
	}
	free(old.slots);
}

static void *copy_of(struct xc_pool *pool, const void *bytes, size_t len)
{
	char *copy = xc_arena_alloc(pool->arena, len + 1); /* zeroed */
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}

const void *xc_pool_bytes(struct xc_pool *pool, const void *bytes, size_t len)
{
	if (pool->single)
		return copy_of(pool, bytes, len);
	if (2 * pool->count >= pool->capacity)
		grow(pool);
	const uint64_t hash = hash_of(bytes, len);
	struct xc_pool_slot *slot = slot_of(pool, bytes, len, hash);
	if (!slot)
		return copy_of(pool, bytes, len);
	if (!slot->bytes) {
		*slot = (struct xc_pool_slot){copy_of(pool, bytes, len), len, hash};
		pool->count++;
	}
	return slot->bytes;
}

const char *xc_pool_text(struct xc_pool *pool, const char *text, size_t max)
{
	return text ? xc_pool_bytes(pool, text, strnlen(text, max)) : NULL;
}

void xc_pool_fini(struct xc_pool *pool)
{
	free(pool->slots);
	pool->slots = NULL;
	pool->capacity = pool->count = 0;
}
