/* glibc_bins: the chunks in the bins and fastbins of the arenas.
 *
 * Bins are doubly linked: a list whose links agree is correct and has no circle. Fastbins are singly linked. From
 * glibc 2.32 on their links are mangled. Where libc's release is not known, as in static programs, the links themselves
 * show whether they are. */
#include <stdlib.h>

#include "heap/glibc/glibc_impl.h"
#include "heap/glibc/glibc_symbol.h"
#include "heap/blocks/scan.h"

enum { FAST_MAX = 1 << 24 }; /* chunks that are followed in one fastbin */

const struct xc_glibc_segment *xc_glibc_segment_of(const struct xc_glibc *glibc, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(glibc->segment_count, i, glibc->segments[i].hi < addr);
	return lo < glibc->segment_count && glibc->segments[lo].lo <= addr ? &glibc->segments[lo] : NULL;
}

bool xc_glibc_is_chunk_place(const struct xc_glibc *glibc, xc_addr chunk)
{
	return (chunk + 2 * glibc->layout.word) % XC_GLIBC_ALIGN == 0 && xc_glibc_segment_of(glibc, chunk);
}

bool xc_glibc_jump(const struct xc_glibc *glibc, struct xc_window *window, xc_addr addr, uint64_t *value_out)
{
	const struct xc_segment *segment;
	uint8_t bytes[8];
	if (xc_inside(addr, glibc->layout.word, window->lo, window->lo + window->len - 1) && window->bytes)
		return xc_glibc_word(glibc, window, addr, value_out);
	segment = xc_space_find(window->space, addr);
	if (!segment)
		return false;
	if (segment->bytes)
		return xc_glibc_word(glibc, window, addr, value_out);
	if (xc_space_peek(window->space, addr, bytes, glibc->layout.word) != glibc->layout.word)
		return false;
	*value_out = xc_glibc_load(bytes, glibc->layout.word);
	return true;
}

/* ---- mangled links ---- */

/* offset: what a link adds to the address of a chunk. Tcaches link blocks, fastbins link chunks. */
int xc_glibc_vote(const struct xc_glibc *glibc, xc_addr at, uint64_t stored, unsigned offset)
{
	uint64_t unmangled = stored ^ at >> XC_GLIBC_MANGLE;
	bool plain = stored == 0 || xc_glibc_is_chunk_place(glibc, stored - offset);
	bool mangled = unmangled == 0 || xc_glibc_is_chunk_place(glibc, unmangled - offset);
	return (int)mangled - (int)plain;
}

bool xc_glibc_is_open(const struct xc_glibc *glibc, xc_addr at, uint64_t stored, unsigned offset)
{
	uint64_t unmangled = stored ^ at >> XC_GLIBC_MANGLE;
	return !glibc->layout.mangled_known && (unmangled == 0 || xc_glibc_is_chunk_place(glibc, unmangled - offset));
}

/* A release may have no version of its own, so an older one than 2.32 proves nothing. */
static bool ask_release(struct xc_glibc *glibc)
{
	const struct xc_module *libc = xc_glibc_module(glibc->heap->process);
	bool mangles = libc && xc_glibc_symbol_release(glibc->heap->process, libc) >= XC_GLIBC_MANGLES;
	glibc->layout.mangled = glibc->layout.mangled_known = mangles;
	return mangles;
}

static void vote(struct xc_glibc *glibc, struct xc_window *window)
{
	const struct xc_glibc_layout *layout = &glibc->layout;
	int sum = 0;
	for (size_t i = 0; i < glibc->arena_count; i++)
		for (unsigned k = 0; k < layout->fastbin_count; k++) {
			uint64_t chunk, stored;
			xc_addr bin = glibc->arenas[i].addr + layout->fastbins + k * layout->word;
			if (xc_glibc_jump(glibc, window, bin, &chunk) && chunk &&
			    xc_glibc_is_chunk_place(glibc, chunk) &&
			    xc_glibc_jump(glibc, window, chunk + 2 * layout->word, &stored))
				sum += xc_glibc_vote(glibc, chunk + 2 * layout->word, stored, 0);
		}
	glibc->layout.mangled = sum > 0;
	glibc->layout.mangled_known = sum != 0;
}

/* ---- anchors ---- */

static void add_anchor(struct xc_glibc *glibc, xc_addr chunk, enum xc_block_state state)
{
	glibc->anchors = xc_grow(glibc->anchors, glibc->anchor_count, &glibc->anchor_capacity, sizeof *glibc->anchors);
	glibc->anchors[glibc->anchor_count++] = chunk | state;
}

static int anchor_order(const void *a, const void *b)
{
	xc_glibc_anchor x = *(const xc_glibc_anchor *)a, y = *(const xc_glibc_anchor *)b;
	return x < y ? -1 : x > y;
}

const xc_glibc_anchor *xc_glibc_anchors(struct xc_glibc *glibc, size_t *count_out)
{
	pthread_mutex_lock(&glibc->lock);
	if (!glibc->anchors_sorted && glibc->anchor_count)
		qsort(glibc->anchors, glibc->anchor_count, sizeof *glibc->anchors, anchor_order);
	glibc->anchors_sorted = true;
	pthread_mutex_unlock(&glibc->lock);
	*count_out = glibc->anchor_count;
	return glibc->anchors;
}

static void collect_bin(struct xc_glibc *glibc, struct xc_window *window, xc_addr bin)
{
	const unsigned word = glibc->layout.word;
	xc_addr before = bin;
	uint64_t at, back;
	if (!xc_glibc_jump(glibc, window, bin + 2 * word, &at))
		return;
	while (at != bin && xc_glibc_is_chunk_place(glibc, at) && xc_glibc_jump(glibc, window, at + 3 * word, &back) &&
	       back == before) {
		add_anchor(glibc, at, XC_BLOCK_BIN);
		before = at;
		if (!xc_glibc_jump(glibc, window, at + 2 * word, &at))
			return;
	}
}

/* Calls `found` for every chunk in an arena's fastbins. A result of false ends the bin. */
static void each_fast(struct xc_glibc *glibc, struct xc_window *window, xc_addr arena,
		      bool (*found)(struct xc_glibc *glibc, xc_addr chunk))
{
	const struct xc_glibc_layout *layout = &glibc->layout;
	for (unsigned k = 0; k < layout->fastbin_count; k++) {
		uint64_t at, stored;
		if (!xc_glibc_jump(glibc, window, arena + layout->fastbins + k * layout->word, &at))
			continue;
		xc_addr seen = 0; /* an earlier chunk, at growing distances: a circle returns to it */
		for (unsigned count = 0; count < FAST_MAX && at && xc_glibc_is_chunk_place(glibc, at); count++) {
			xc_addr link = at + 2 * layout->word;
			if (at == seen)
				break;
			seen = count & (count - 1) ? seen : at;
			if (!found(glibc, at) || !xc_glibc_jump(glibc, window, link, &stored))
				break;
			at = xc_glibc_unmangle(glibc, link, stored);
		}
	}
}

static bool anchor_fast(struct xc_glibc *glibc, xc_addr chunk)
{
	if (glibc->fast_left == 0)
		return false;
	glibc->fast_left--;
	add_anchor(glibc, chunk, XC_BLOCK_FAST);
	return true;
}

void xc_glibc_find_free(struct xc_glibc *glibc, struct xc_window *window)
{
	const struct xc_glibc_layout *layout = &glibc->layout;
	if (!ask_release(glibc))
		vote(glibc, window);
	for (size_t i = 0; i < glibc->segment_count; i++)
		glibc->fast_left += xc_scan_stored_bytes(window->space, glibc->segments[i].lo, glibc->segments[i].hi) /
				    (4 * layout->word);
	for (size_t i = 0; i < glibc->arena_count; i++) {
		xc_addr arena = glibc->arenas[i].addr;
		for (unsigned k = 0; k < XC_GLIBC_BINS; k++)
			collect_bin(glibc, window, arena + layout->bins + (k * 2 - 2) * layout->word);
		each_fast(glibc, window, arena, anchor_fast);
	}
}

/* ---- states ---- */

uint32_t xc_glibc_block(const struct xc_glibc *glibc, xc_addr chunk)
{
	const struct xc_blocks *blocks = &glibc->heap->blocks;
	xc_addr addr = chunk + 2 * glibc->layout.word;
	uint32_t block = xc_blocks_find(blocks, addr);
	return block != XC_NO_BLOCK && xc_block_addr(blocks, block) == addr ? block : XC_NO_BLOCK;
}

/* Is some of the memory in [lo, end) missing in the core? */
static bool has_gap(const struct xc_glibc *glibc, xc_addr lo, xc_addr end)
{
	return lo < end && xc_scan_stored_bytes(glibc->heap->process->space, lo, end - 1) < end - lo;
}

bool xc_glibc_is_lost(const struct xc_glibc *glibc, xc_addr addr)
{
	const struct xc_blocks *blocks = &glibc->heap->blocks;
	const struct xc_process *process = glibc->heap->process;
	const struct xc_glibc_segment *segment = xc_glibc_segment_of(glibc, addr);
	const struct xc_mapping *mapping = xc_process_mapping(process, addr);
	const unsigned header = 2 * glibc->layout.word;
	if (xc_heap_is_lost(glibc->heap, addr - header, 2 * header))
		return true;
	if (!segment)
		return glibc->lost && mapping && xc_glibc_may_be_heap(process, mapping);
	uint32_t behind = xc_blocks_from(blocks, addr), block = xc_blocks_find(blocks, addr);
	xc_addr before = behind ? xc_block_addr(blocks, behind - 1) : 0;
	if (block == XC_NO_BLOCK) /* after a gap no chunk is known until many in a row are right */
		return has_gap(glibc, before > segment->lo ? before : segment->lo, addr);
	return xc_block_addr(blocks, block) == addr && xc_block_state(blocks, block) == XC_BLOCK_UNKNOWN &&
	       xc_heap_is_lost(glibc->heap, addr + xc_block_size(blocks, block) - glibc->layout.word, header);
}

/* A chunk that is already on the list ends it: the list has a circle, or joins another list. */
static bool settle_fast(struct xc_glibc *glibc, xc_addr chunk)
{
	uint32_t block = xc_glibc_block(glibc, chunk);
	if (block == XC_NO_BLOCK || xc_block_state(&glibc->heap->blocks, block) != XC_BLOCK_LIVE)
		return false;
	xc_blocks_set_state(&glibc->heap->blocks, block, XC_BLOCK_FAST);
	return true;
}

void xc_glibc_settle_fast(struct xc_glibc *glibc, struct xc_window *window)
{
	for (size_t i = 0; i < glibc->arena_count; i++)
		each_fast(glibc, window, glibc->arenas[i].addr, settle_fast);
}
