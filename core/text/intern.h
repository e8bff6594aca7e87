/* intern: different texts, each kept once and numbered from 0 in the order of first sight. */
#ifndef XC_INTERN_H
#define XC_INTERN_H

#include "core/base/arena.h"
#include "core/base/hashtable.h"

/* Zeroed, it is empty. */
struct xc_intern {
	struct xc_arena arena;
	const char **texts; /* by number */
	size_t count, capacity;
	struct xc_hashtable by_hash;
};

/* The number of a text, which is copied when it is new. Cost: of a hash. */
uint32_t xc_intern(struct xc_intern *intern, const char *text);

void xc_intern_fini(struct xc_intern *intern);

#endif
