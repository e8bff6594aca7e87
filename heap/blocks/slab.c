#include "heap/blocks/slab.h"

enum { EFFORT = 1 << 20 }; /* links read while searching for the continuation of a list */

static uint64_t index_of(const struct xc_slab *slab, xc_addr addr)
{
	uint64_t at = addr - slab->lo;
	return at / slab->size < slab->count && at % slab->size == 0 ? at / slab->size : slab->count;
}

static uint64_t next_of(const struct xc_slab *slab, uint64_t index)
{
	uint64_t next;
	return xc_window_word(slab->window, slab->lo + index * slab->size, &next) ? next : UINT64_MAX;
}

void xc_slab_follow(struct xc_slab *slab, struct xc_slab_list *list, uint64_t most)
{
	while (list->next && list->found < most) {
		uint64_t index = index_of(slab, list->next);
		if (index >= slab->count) {
			list->wrong = "the list of free blocks leads outside their page";
			return;
		}
		if (slab->free[index]) {
			list->wrong = "the list of free blocks leads to a block that is already on a list";
			return;
		}
		slab->free[index] = 1;
		list->found++;
		list->at = list->next;
		list->next = next_of(slab, index);
	}
}

/* The length of the chain of blocks that begins here, up to `most`; 0 if it does not end with 0. */
static uint64_t chain_length(const struct xc_slab *slab, uint64_t index, uint64_t most)
{
	for (uint64_t length = 1; length <= most; length++) {
		uint64_t next = next_of(slab, index);
		if (next == 0)
			return length;
		index = index_of(slab, next);
		if (index >= slab->count || slab->free[index])
			return 0;
	}
	return 0;
}

bool xc_slab_resume(struct xc_slab *slab, uint64_t missing)
{
	uint64_t effort = EFFORT, found = slab->count;
	for (uint64_t i = 0; i < slab->count; i++) {
		if (slab->free[i])
			continue;
		uint64_t length = chain_length(slab, i, missing);
		if (effort <= missing || (length == missing && found < slab->count))
			return false;
		effort -= length ? length : 1;
		if (length == missing)
			found = i;
	}
	if (found == slab->count)
		return false;
	for (; missing; missing--) {
		slab->free[found] = 1;
		found = index_of(slab, next_of(slab, found));
	}
	return true;
}
