#include "core/text/intern.h"

#include <stdlib.h>
#include <string.h>

uint32_t xc_intern(struct xc_intern *n, const char *text)
{
	const uint64_t hash = xc_hash_bytes(0, text, strlen(text));
	for (uint64_t turn = 1;; turn++) { /* different texts may have one hash */
		union xc_hashtable_value *found = xc_hashtable_at(&n->by_hash, NULL, hash, turn);
		if (!found->number) {
			n->texts = xc_grow(n->texts, n->count, &n->capacity, sizeof *n->texts);
			n->texts[n->count++] = xc_arena_strdup(&n->arena, text);
			found->number = n->count;
		}
		if (strcmp(n->texts[found->number - 1], text) == 0)
			return (uint32_t)found->number - 1;
	}
}

void xc_intern_fini(struct xc_intern *n)
{
	xc_arena_fini(&n->arena);
	xc_hashtable_fini(&n->by_hash);
	free(n->texts);
	*n = (struct xc_intern){0};
}
