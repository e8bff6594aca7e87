/* pool: an intern pool: equal byte strings are stored once, such as names of functions and files, and stacks of the
 * same crash.
 *
 * Few strings with equal hashes are told apart. An attacker who makes many such only causes duplicates. */
#ifndef XC_POOL_H
#define XC_POOL_H

#include "core/base/hashtable.h"

struct xc_pool {
	struct xc_arena *arena; /* owns the bytes */
	bool single;            /* never look up: every string is a new copy */
	struct xc_hashtable table;
};

/* A copy in the pool's arena, with the arena's alignment and a NUL after it; read-only. Cost: of a hash. */
const void *xc_pool_bytes(struct xc_pool *pool, const void *bytes, size_t len);

/* The same for a text, up to its NUL or max bytes; NULL gives NULL. */
const char *xc_pool_text(struct xc_pool *pool, const char *text, size_t max);

/* Frees the table; the strings stay in the arena. */
void xc_pool_fini(struct xc_pool *pool);

#endif
