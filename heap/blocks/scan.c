/* The lookup of a word takes three dependent steps (blocks.h): the leaf of its range; its bit and rank there; the
 * block's head and size. Each step is done for the whole batch and prefetches the memory of the next step.
 *
 * The rank needs a population count, for which plain x86-64 has no instruction. So the same code is compiled twice. */
#include "heap/blocks/scan.h"

#include <string.h>

/* ---- lookup ---- */

static inline __attribute__((always_inline)) void find_leaves(struct xc_scan *scan)
{
	const struct xc_blocks *blocks = scan->blocks;
	for (size_t i = 0; i < scan->count; i++) {
		const uint32_t *table = blocks->tables[scan->values[i] >> 32];
		uint64_t granule = (scan->values[i] & UINT32_MAX) >> blocks->granule_bits;
		uint32_t entry = table ? table[granule >> XC_BLOCK_LEAF_BITS] : 0;
		unsigned word = (granule >> 6) & (XC_BLOCK_WORDS - 1);
		scan->candidate[i] = entry & XC_BLOCK_INSIDE ? entry & ~XC_BLOCK_INSIDE : XC_NO_BLOCK;
		scan->leaves[i] = NULL;
		if (entry & XC_BLOCK_INSIDE || !entry)
			continue;
		scan->leaves[i] = &blocks->leaves[entry - 1];
		__builtin_prefetch(&scan->leaves[i]->bits[word]);
		__builtin_prefetch(&scan->leaves[i]->rank[word]);
	}
}

static inline __attribute__((always_inline)) void find_candidates(struct xc_scan *scan)
{
	const struct xc_blocks *blocks = scan->blocks;
	for (size_t i = 0; i < scan->count; i++) {
		const struct xc_block_leaf *leaf = scan->leaves[i];
		if (leaf) {
			uint64_t granule = (scan->values[i] & UINT32_MAX) >> blocks->granule_bits;
			unsigned word = (granule >> 6) & (XC_BLOCK_WORDS - 1), bit = granule & 63;
			uint64_t upto = leaf->bits[word] & (UINT64_MAX >> (63 - bit));
			scan->candidate[i] = leaf->rank[word] + (uint32_t)__builtin_popcountll(upto) - 1;
		}
		if (scan->candidate[i] == XC_NO_BLOCK)
			continue;
		__builtin_prefetch(&blocks->heads[scan->candidate[i]]);
		__builtin_prefetch(&blocks->sizes[scan->candidate[i]]);
	}
}

static inline __attribute__((always_inline)) void check_candidates(struct xc_scan *scan)
{
	const struct xc_blocks *blocks = scan->blocks;
	for (size_t i = 0; i < scan->count; i++) {
		uint32_t block = scan->candidate[i];
		scan->hits[i] = XC_NO_BLOCK;
		if (block == XC_NO_BLOCK || !xc_scan_has_edges(blocks->heads[block]))
			continue;
		uint64_t inside = scan->values[i] - xc_block_addr(blocks, block);
		if (inside < xc_block_size(blocks, block))
			scan->hits[i] = block | (inside ? XC_SCAN_INTERIOR : 0);
	}
}

static void resolve_plain(struct xc_scan *scan)
{
	find_leaves(scan);
	find_candidates(scan);
	check_candidates(scan);
}

#ifdef __x86_64__
__attribute__((target("popcnt,bmi,bmi2"))) static void resolve_popcnt(struct xc_scan *scan)
{
	find_leaves(scan);
	find_candidates(scan);
	check_candidates(scan);
}

static bool has_popcnt(void)
{
	return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif

void xc_scan_init_plain(struct xc_scan *scan, const struct xc_heap *heap)
{
	const struct xc_arch *arch = heap->process->arch;
	scan->blocks = &heap->blocks;
	scan->lo = heap->blocks.lo;
	scan->span = heap->blocks.hi - heap->blocks.lo;
	scan->word = arch->word;
	scan->swap = arch->big_endian != xc_arch_host()->big_endian;
	scan->resolve = resolve_plain;
	scan->count = 0;
}

void xc_scan_init(struct xc_scan *scan, const struct xc_heap *heap)
{
	xc_scan_init_plain(scan, heap);
#ifdef __x86_64__
	if (has_popcnt())
		scan->resolve = resolve_popcnt;
#endif
}

/* ---- collecting ---- */

/* Words of another size or byte order than the host's. */
static uint64_t odd_word(const struct xc_scan *scan, const uint8_t *bytes)
{
	uint32_t half;
	uint64_t whole;
	if (scan->word == 4) {
		memcpy(&half, bytes, sizeof half);
		return scan->swap ? __builtin_bswap32(half) : half;
	}
	memcpy(&whole, bytes, sizeof whole);
	return scan->swap ? __builtin_bswap64(whole) : whole;
}

static size_t collect_odd(struct xc_scan *scan, const uint8_t *bytes, size_t count, uint32_t tag, uint32_t step)
{
	size_t i = 0;
	for (; i < count && scan->count < XC_SCAN_BATCH; i++) {
		uint64_t value = odd_word(scan, bytes + i * scan->word);
		if (value - scan->lo > scan->span)
			continue;
		scan->values[scan->count] = value;
		scan->tags[scan->count++] = tag + (uint32_t)i * step;
	}
	return i;
}

size_t xc_scan_collect(struct xc_scan *scan, const uint8_t *bytes, size_t count, uint32_t tag, uint32_t step)
{
	if (scan->blocks->count == 0)
		return count;
	if (scan->word != sizeof(uint64_t) || scan->swap)
		return collect_odd(scan, bytes, count, tag, step);
	size_t i = 0, found = scan->count;
	while (i < count && found < XC_SCAN_BATCH) {
		/* There are at most as many words as the batch has room for. So each word is stored, and kept only
		 * if it may be a pointer. */
		size_t room = XC_SCAN_BATCH - found, end = count - i < room ? count : i + room;
		for (; i < end; i++) {
			uint64_t value;
			memcpy(&value, bytes + i * sizeof value, sizeof value);
			scan->values[found] = value;
			scan->tags[found] = tag + (uint32_t)i * step;
			found += value - scan->lo <= scan->span;
		}
	}
	scan->count = found;
	return i;
}

/* ---- memory ---- */

static bool has_bytes(const struct xc_segment *segment, bool written)
{
	return segment->provenance == XC_FROM_CORE || segment->provenance == XC_FROM_LIVE ||
	       (segment->provenance == XC_FROM_FILE && !written);
}

bool xc_scan_next(struct xc_window *window, xc_addr *addr, xc_addr hi, uint64_t most, bool written,
		  const uint8_t **bytes_out, uint64_t *len_out)
{
	enum { PAGE = 4096 };
	const struct xc_space *space = window->space;
	size_t count = xc_space_count(space);
	for (size_t i = xc_space_lower_bound(space, *addr); i < count && xc_space_at(space, i)->lo <= hi; i++) {
		const struct xc_segment *segment = xc_space_at(space, i);
		xc_addr at = *addr > segment->lo ? *addr : segment->lo, last = segment->hi < hi ? segment->hi : hi;
		while (has_bytes(segment, written) && at <= last) {
			uint64_t left = last - at < most - 1 ? last - at + 1 : most;
			*bytes_out = xc_window_run(window, at, left, len_out);
			*addr = at;
			if (*bytes_out)
				return true;
			if (last - at < PAGE - (at & (PAGE - 1)))
				break;
			at = (at | (PAGE - 1)) + 1; /* an unreadable page */
		}
	}
	return false;
}

bool xc_scan_stored(const struct xc_space *space, xc_addr *addr, xc_addr hi, bool written)
{
	size_t count = xc_space_count(space);
	for (size_t i = xc_space_lower_bound(space, *addr); i < count && xc_space_at(space, i)->lo <= hi; i++) {
		const struct xc_segment *segment = xc_space_at(space, i);
		if (!has_bytes(segment, written))
			continue;
		*addr = *addr > segment->lo ? *addr : segment->lo;
		return true;
	}
	return false;
}

uint64_t xc_scan_stored_bytes(const struct xc_space *space, xc_addr lo, xc_addr hi)
{
	size_t count = xc_space_count(space);
	uint64_t bytes = 0;
	for (size_t i = xc_space_lower_bound(space, lo); i < count && xc_space_at(space, i)->lo <= hi; i++) {
		const struct xc_segment *s = xc_space_at(space, i);
		if (has_bytes(s, false))
			bytes += (s->hi < hi ? s->hi : hi) - (s->lo > lo ? s->lo : lo) + 1;
	}
	return bytes;
}
