/* memo: remembers what was worked out for a pair of pointers (a DIE, a place), for as long as its arena lives. */
#ifndef XC_MEMO_H
#define XC_MEMO_H

#include "core/base/arena.h"

struct xc_memo {
	struct xc_memo_slot *slots;
	size_t count, capacity;
};

/* Where the answer for (a, b) is kept: holds NULL until the caller stores one. Valid until the next call.
 * O(1); b may be NULL, a may not. */
void **xc_memo_at(struct xc_memo *memo, struct xc_arena *arena, const void *a, const void *b);

#endif
