/* jemalloc_base: the memory that jemalloc keeps its own data in.
 *
 *	base_block_t, at a multiple of 2 MiB:
 *	 0 | size of the block, whole 2 MiB |
 *	 8 | next block of the arena |
 *	16 | record of the part that is not used yet: bits, address, size … |
 *
 * checked against jemalloc 5.3.0, include/jemalloc/internal/base.h and src/base.c. The blocks are found by looking at every multiple of
 * 2 MiB that is mapped: the address in the record must lie in the block itself. */
#include "jemalloc.h"

enum { ALIGN = 1 << 21, HEADER = 40, ADDRESS_AT = 24 };

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

struct xc_jemalloc_base *xc_jemalloc_find_bases(const struct xc_process *process, size_t *count_out)
{
	struct xc_jemalloc_base *bases = NULL;
	size_t count = 0, capacity = 0;
	xc_addr next = 0;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		next = m->lo > next ? m->lo : next;
		while (m->readable && m->writable && (next = (next + ALIGN - 1) & ~(xc_addr)(ALIGN - 1)) <= m->hi) {
			uint64_t size = size_of(process->space, next);
			if (size) {
				bases = xc_grow(bases, count, &capacity, sizeof *bases);
				bases[count++] = (struct xc_jemalloc_base){next, next + size - 1};
			}
			next += size ? size : ALIGN;
		}
	}
	*count_out = count;
	return bases;
}

bool xc_jemalloc_is_own(const struct xc_jemalloc *je, xc_addr addr)
{
	size_t lo = 0, hi = je->base_count;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (je->bases[middle].hi < addr)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo < je->base_count && je->bases[lo].lo <= addr;
}
