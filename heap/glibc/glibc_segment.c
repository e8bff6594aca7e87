/* glibc_segment: finds the memory that holds the chunks of each arena.
 *
 *  main arena   the memory from sbrk: [end of top - system_mem, end of top). Where something else moved the break, or
 *               mmap replaced sbrk, a part ends in a pair of fenceposts, and the walk continues after them.
 *  sub-arena    heaps at multiples of HEAP_MAX, linked by `prev` from the one with the top chunk to the first.
 *               HEAP_MAX is tunable; it is the power of two with which the chains of most arenas are complete. */
#include <stdlib.h>

#include "heap/glibc/glibc_extent.h"

enum {
	HEAP_MAX_BITS_LOW = 20,
	HEAP_MAX_BITS_HIGH = 36,
	HEAPS_MAX = 1 << 20, /* of an arena */
};

static bool get(struct xc_glibc *glibc, struct xc_window *window, xc_addr addr, uint64_t *value_out)
{
	return xc_glibc_word(glibc, window, addr, value_out);
}

/* Up to the first chunk with an aligned block. */
static xc_addr first_chunk(const struct xc_glibc *glibc, xc_addr addr)
{
	unsigned header = 2 * glibc->layout.word;
	return ((addr + header + XC_GLIBC_ALIGN - 1) & ~(uint64_t)(XC_GLIBC_ALIGN - 1)) - header;
}

void xc_glibc_add_segment(struct xc_glibc *glibc, size_t arena, xc_addr lo, xc_addr hi, const char *what)
{
	const struct xc_glibc_arena *owner = &glibc->arenas[arena];
	lo = first_chunk(glibc, lo);
	if (lo > hi || hi >> XC_BLOCK_ADDRESS_BITS || hi - lo < 2 * glibc->layout.word)
		return;
	glibc->segments =
		xc_grow(glibc->segments, glibc->segment_count, &glibc->segment_capacity, sizeof *glibc->segments);
	glibc->segments[glibc->segment_count++] = (struct xc_glibc_segment){
		.glibc = glibc,
		.lo = lo,
		.hi = hi,
		.top = owner->top >= lo && owner->top <= hi ? owner->top : 0,
		.arena = (uint32_t)arena,
		.what = what,
	};
}

/* ---- sub-arenas ---- */

struct heap_info {
	uint64_t arena, prev, size;
};

static bool read_heap(struct xc_glibc *glibc, struct xc_window *window, xc_addr addr, struct heap_info *heap)
{
	unsigned word = glibc->layout.word;
	return get(glibc, window, addr, &heap->arena) && get(glibc, window, addr + word, &heap->prev) &&
	       get(glibc, window, addr + 2 * word, &heap->size);
}

static bool is_heap(const struct xc_glibc *glibc, xc_addr addr, const struct heap_info *heap, xc_addr arena,
		    uint64_t max)
{
	return heap->arena == arena && heap->size > glibc->layout.heap_info && heap->size <= max &&
	       heap->size % 4096 == 0 && heap->prev % max == 0 && heap->prev != addr;
}

static void add_heap(struct xc_glibc *glibc, size_t arena, xc_addr heap, uint64_t size)
{
	const struct xc_glibc_arena *owner = &glibc->arenas[arena];
	bool first = owner->addr - heap == glibc->layout.heap_info;
	xc_addr lo = heap + glibc->layout.heap_info + (first ? glibc->layout.state_size : 0);
	xc_glibc_add_segment(glibc, arena, lo, heap + size - 1, "heap of a sub-arena");
}

/* Follows an arena's heaps from its top. True if they end at the first one. When heaps are added, a heap missing in
 * the core is recorded. */
static bool walk_heaps(struct xc_glibc *glibc, struct xc_window *window, size_t arena, uint64_t max, bool add)
{
	struct xc_glibc_arena *owner = &glibc->arenas[arena];
	xc_addr at = owner->top & ~(max - 1), first = owner->addr - glibc->layout.heap_info;
	struct heap_info heap;
	xc_addr seen = 0; /* an earlier heap, at growing distances: a circle returns to it */
	for (unsigned count = 0; count < HEAPS_MAX; count++, at = heap.prev) {
		if (count && at == seen)
			return false;
		seen = count & (count - 1) ? seen : at;
		if (!read_heap(glibc, window, at, &heap)) {
			owner->heaps_lost = add && xc_heap_is_lost(glibc->heap, at, 3 * glibc->layout.word);
			return false;
		}
		if (!is_heap(glibc, at, &heap, owner->addr, max))
			return false;
		if (add)
			add_heap(glibc, arena, at, heap.size);
		if (at == first)
			return true;
	}
	return false;
}

static uint64_t guess_heap_max(struct xc_glibc *glibc, struct xc_window *window)
{
	uint64_t usual = glibc->layout.word == 8 ? UINT64_C(64) << 20 : UINT64_C(1) << 20, best = usual;
	size_t most = 0;
	for (unsigned bits = HEAP_MAX_BITS_LOW; bits <= HEAP_MAX_BITS_HIGH; bits++) {
		size_t closed = 0;
		uint64_t max = UINT64_C(1) << bits;
		for (size_t i = 0; i < glibc->arena_count; i++)
			closed += !glibc->arenas[i].main && walk_heaps(glibc, window, i, max, false);
		if (closed > most || (closed == most && max == usual)) {
			most = closed;
			best = max;
		}
	}
	return best;
}

/* ---- main arena ---- */

static void add_main(struct xc_glibc *glibc, struct xc_window *window, size_t arena)
{
	xc_addr lo, hi;
	if (!glibc->arenas[arena].contiguous)
		xc_glibc_find_noncontiguous(glibc, window, arena);
	else if (xc_glibc_main_extent(glibc, window, arena, &lo, &hi))
		xc_glibc_add_segment(glibc, arena, lo, hi, "heap (brk)");
}

/* Its headers are damaged or missing, but its beginning is known. */
static void add_first_heap(struct xc_glibc *glibc, size_t arena)
{
	xc_addr lo, hi;
	glibc->arenas[arena].heaps_damaged = !glibc->arenas[arena].heaps_lost;
	glibc->lost |= glibc->arenas[arena].heaps_lost;
	if (xc_glibc_first_heap_extent(glibc, arena, &lo, &hi))
		xc_glibc_add_segment(glibc, arena, lo, hi, "heap of a sub-arena");
}

static int segment_order(const void *a, const void *b)
{
	const struct xc_glibc_segment *x = a, *y = b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Metadata are untrusted: a segment that overlaps the previous one is left out. */
static void separate(struct xc_glibc *glibc)
{
	size_t kept = 0;
	for (size_t i = 0; i < glibc->segment_count; i++)
		if (kept == 0 || glibc->segments[i].lo > glibc->segments[kept - 1].hi)
			glibc->segments[kept++] = glibc->segments[i];
	glibc->segment_count = kept;
}

void xc_glibc_find_segments(struct xc_glibc *glibc, struct xc_window *window)
{
	bool subs = false;
	for (size_t i = 0; i < glibc->arena_count; i++)
		subs |= !glibc->arenas[i].main;
	glibc->layout.heap_max = subs ? guess_heap_max(glibc, window) : 0;
	for (size_t i = 0; i < glibc->arena_count; i++) {
		if (glibc->arenas[i].main)
			add_main(glibc, window, i);
		else if (!walk_heaps(glibc, window, i, glibc->layout.heap_max, true))
			add_first_heap(glibc, i);
	}
	if (glibc->segment_count)
		qsort(glibc->segments, glibc->segment_count, sizeof *glibc->segments, segment_order);
	separate(glibc);
}
