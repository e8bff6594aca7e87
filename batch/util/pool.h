/* pool: bytes that are kept once, however often they come: names of functions and files, stacks of the same crash.
 *
 * A table of fixed reach: who makes many texts fall together has them kept twice, and gains nothing else. */
#ifndef XC_POOL_H
#define XC_POOL_H

#include "core/base/arena.h"

struct xc_pool_slot;

struct xc_pool {
	struct xc_arena *arena; /* of the bytes */
	bool single;            /* nothing is looked for: each is a new copy */
	struct xc_pool_slot *slots;
	size_t capacity, count;
};

/* A copy in the pool's arena, aligned as the arena does it, with a NUL behind it; not to be written to. Cost: of a hash. */
const void *xc_pool_bytes(struct xc_pool *pool, const void *bytes, size_t len);

/* Of a text, up to its NUL or max bytes; NULL gives NULL. */
const char *xc_pool_text(struct xc_pool *pool, const char *text, size_t max);

/* Free the table; what is in the arena stays. */
void xc_pool_fini(struct xc_pool *pool);

#endif
