/* jemalloc_base: the memory of jemalloc's own data.
 *
 *	base_block_t, at a multiple of 2 MiB:
 *	 0 | size of the block, whole 2 MiB |
 *	 8 | next block of the arena |
 *	16 | record of the part that is not used yet: bits, address, size … |
 *
 * Checked against jemalloc 5.3.0, include/jemalloc/internal/base.h and src/base.c. Blocks that hold a record or a
 * leaf of the tree are found; the address in the record must be inside the block itself. */
#include "heap/allocators/jemalloc_impl.h"

#include <stdlib.h>

enum { ALIGN = 1 << 21, HEADER = 40, ADDRESS_AT = 24, STARTS = 1 << 16 };

static uint64_t size_of(const struct xc_space *space, xc_addr block)
{
	uint8_t buf[HEADER];
	const uint8_t *bytes = xc_jemalloc_peek(space, block, buf, sizeof buf);
	if (!bytes)
		return 0;
	uint64_t size = xc_jemalloc_word(bytes), next = xc_jemalloc_word(bytes + 8);
	uint64_t unused = xc_jemalloc_word(bytes + ADDRESS_AT) - block;
	bool good =
		size && size % ALIGN == 0 && next % ALIGN == 0 && size >> 40 == 0 && unused >= HEADER && unused <= size;
	return good ? size : 0;
}

struct starts {
	xc_addr *items;
	size_t count, capacity;
};

static void note(struct starts *starts, xc_addr addr)
{
	addr &= ~(xc_addr)(ALIGN - 1);
	if ((starts->count && starts->items[starts->count - 1] == addr) || starts->count >= STARTS)
		return;
	starts->items = xc_grow(starts->items, starts->count, &starts->capacity, sizeof *starts->items);
	starts->items[starts->count++] = addr;
}

static int by_value(const void *a, const void *b)
{
	xc_addr x = *(const xc_addr *)a, y = *(const xc_addr *)b;
	return x < y ? -1 : x > y;
}

static void add_base(struct xc_jemalloc *je, xc_addr lo, size_t *capacity)
{
	xc_addr end = je->base_count ? je->bases[je->base_count - 1].hi + 1 : 0;
	uint64_t size = lo < end ? 0 : size_of(je->heap->process->space, lo);
	if (size == 0 || xc_jemalloc_extent_at(je, lo))
		return;
	je->bases = xc_grow(je->bases, je->base_count, capacity, sizeof *je->bases);
	je->bases[je->base_count++] = (struct xc_jemalloc_base){lo, lo + size - 1};
}

void xc_jemalloc_find_bases(struct xc_jemalloc *je)
{
	struct starts starts = {0};
	size_t capacity = 0;
	for (size_t i = 0; i < je->extent_count; i++)
		note(&starts, je->extents[i].edata);
	for (size_t t = 0; t < je->tree_count; t++)
		for (size_t i = 0; i < je->trees[t].leaf_count; i++)
			note(&starts, je->trees[t].leaves[i].addr);
	if (starts.count)
		qsort(starts.items, starts.count, sizeof *starts.items, by_value);
	for (size_t i = 0; i < starts.count; i++)
		add_base(je, starts.items[i], &capacity);
	free(starts.items);
}

bool xc_jemalloc_is_own(const struct xc_jemalloc *je, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(je->base_count, i, je->bases[i].hi < addr);
	return lo < je->base_count && je->bases[lo].lo <= addr;
}
