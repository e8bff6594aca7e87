/* pool: the strings are in a hash table, by (hash, length and number among those with equal hashes). */
#include "batch/util/pool.h"

#include <string.h>

enum { REACH = 16 };

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
	const uint64_t hash = xc_hash_bytes(0, bytes, len);
	for (uint64_t i = 0; i < REACH; i++) {
		union xc_hashtable_value *slot = xc_hashtable_at(&pool->table, NULL, hash, len * REACH + i);
		if (!slot->pointer)
			return slot->pointer = copy_of(pool, bytes, len);
		if (!len || !memcmp(slot->pointer, bytes, len))
			return slot->pointer;
	}
	return copy_of(pool, bytes, len);
}

const char *xc_pool_text(struct xc_pool *pool, const char *text, size_t max)
{
	return text ? xc_pool_bytes(pool, text, strnlen(text, max)) : NULL;
}

void xc_pool_fini(struct xc_pool *pool)
{
	xc_hashtable_fini(&pool->table);
}
