/* mimalloc: the blocks of its pages, which mimalloc_find.c finds. Checked against mimalloc 2.0.9.
 *
 * A page is an array of blocks. The first `capacity` blocks have been free at least once. A free block is in one of
 * four lists, linked by first words:
 *
 *	free, local_free      of the page, by its own thread: capacity - used blocks
 *	thread_free           of the page, by other threads; `used` counts them
 *	thread_delayed_free   of the heap: one block for each page that was full; `used` counts them too
 *
 * An allocation with an alignment larger than its size class may begin inside a block. mimalloc does not record
 * where, so the whole block is reported. Slices without a page, and the part of a page that was never free, are
 * free blocks. */
#include "heap/allocators/mimalloc_impl.h"

#include <stdlib.h>

#include "heap/blocks/slab.h"

enum { LISTS = 3 };

static void damaged_list(struct xc_walk *walk, const struct mi_page *page, const struct xc_slab_list *list,
			 const char *name)
{
	const struct mi_state *state = walk->state;
	struct xc_damage damage = {
		.addr = list->at, .what = list->wrong, .lost_lo = 1, .arena = state->arena, .before = XC_NO_BLOCK};
	damage.found = xc_arena_printf(&walk->memory, "0x%llx in %s of the page of %llu-byte blocks at 0x%llx",
				       (unsigned long long)list->next, name, (unsigned long long)page->size,
				       (unsigned long long)page->lo);
	xc_walk_add_damage(walk, &damage);
}

/* Blocks of the page's own lists that the lists did not lead to. */
static void read_free(struct xc_walk *walk, const struct mi_page *page, struct xc_slab *slab)
{
	static const char *const names[LISTS] = {"free", "local_free", "thread_free"};
	static const unsigned places[LISTS] = {MI_PAGE_FREE, MI_PAGE_LOCAL_FREE, MI_PAGE_THREAD_FREE};
	uint64_t own = page->capacity - page->used, found = 0;
	unsigned broken = 0;
	for (unsigned i = LISTS; i-- > 0;) {
		struct xc_slab_list list = {.at = page->page + places[i], .next = page->free[i]};
		xc_slab_follow(slab, &list, slab->count);
		if (i < 2)
			found += list.found;
		if (list.wrong)
			damaged_list(walk, page, &list, names[i]);
		broken |= (list.wrong ? 1U : 0U) << i;
	}
	if (found < own && (broken & 3))
		xc_slab_resume(slab, own - found);
	else if (found != own)
		damaged_list(
			walk, page,
			&(struct xc_slab_list){.at = page->page, .wrong = "a page's count of used blocks is wrong"},
			"all lists");
}

static void walk_page(struct xc_walk *walk, const struct mi_page *page)
{
	struct xc_block_list *blocks = &walk->blocks;
	struct xc_slab slab = {.window = &walk->window, .lo = page->lo, .size = page->size, .count = page->capacity};
	uint64_t never = (uint64_t)(page->reserved - page->capacity) * page->size;
	if (!page->reserved) {
		xc_block_list_add(blocks, page->lo, page->size, XC_BLOCK_BIN);
		return;
	}
	slab.free = xc_alloc(slab.count + 1);
	read_free(walk, page, &slab);
	for (uint64_t i = 0; i < slab.count; i++)
		xc_block_list_add(blocks, page->lo + i * page->size, page->size,
				  slab.free[i] ? XC_BLOCK_BIN : XC_BLOCK_LIVE);
	if (never)
		xc_block_list_add(blocks, page->lo + slab.count * page->size, never, XC_BLOCK_TOP);
	free(slab.free);
}

static void walk(struct xc_walk *walk, size_t piece)
{
	const struct mi_state *state = walk->state;
	size_t most = 0;
	for (size_t i = state->pieces[piece]; i < state->pieces[piece + 1]; i++)
		most += state->pages[i].capacity + 1U;
	xc_block_list_init(&walk->blocks, most);
	for (size_t i = state->pieces[piece]; i < state->pieces[piece + 1]; i++)
		walk_page(walk, &state->pages[i]);
}

/* ---- blocks freed by other threads ---- */

static void settle_delayed(struct xc_heap *heap, const struct mi_state *state, xc_addr first)
{
	xc_addr at = first, next = first;
	while (next) {
		uint32_t block = xc_blocks_find(&heap->blocks, next);
		if (block == XC_NO_BLOCK || xc_block_addr(&heap->blocks, block) != next ||
		    xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE) {
			struct xc_damage damage = {
				.addr = at, .lost_lo = 1, .arena = state->arena, .before = XC_NO_BLOCK};
			damage.what = "a heap's list of blocks that other threads freed leads to no block in use";
			damage.found = xc_arena_printf(&heap->memory, "0x%llx", (unsigned long long)next);
			xc_heap_add_damage(heap, &damage);
			return;
		}
		xc_blocks_set_state(&heap->blocks, block, XC_BLOCK_BIN);
		at = next;
		if (!xc_space_peek_uint(heap->process->space, at, 8, &next))
			return;
	}
}

static void settle(struct xc_heap *heap, void *memory)
{
	const struct mi_state *state = memory;
	for (size_t i = 0; i < state->delayed_count; i++)
		settle_delayed(heap, state, state->delayed[i]);
}

/* ---- the table's entry ---- */

static void fini(void *memory)
{
	struct mi_state *state = memory;
	free(state->pages);
	free(state->delayed);
	free(state->pieces);
	free(state);
}

static void *detect(struct xc_heap *heap, size_t *pieces_out, const char **why_out)
{
	struct mi_state *state = xc_alloc(sizeof *state);
	if (!mi_find(heap, state, why_out)) {
		fini(state);
		return NULL;
	}
	*pieces_out = state->piece_count;
	return state;
}

static void explain(const struct xc_heap *heap, void *memory, uint32_t block, struct xc_text *text)
{
	const struct mi_state *state = memory;
	xc_addr addr = xc_block_addr(&heap->blocks, block);
	size_t lo = XC_LOWER_BOUND(state->count, i, state->pages[i].lo <= addr);
	const struct mi_page *page = lo ? &state->pages[lo - 1] : NULL;
	if (!page)
		return;
	if (!page->reserved) {
		xc_text_printf(text, "free slices, page 0x%llx", (unsigned long long)page->page);
		return;
	}
	xc_text_printf(text, "block %llu of %u, %llu bytes each, page 0x%llx: %u used, %u were free once",
		       (unsigned long long)((addr - page->lo) / page->size), page->reserved,
		       (unsigned long long)page->size, (unsigned long long)page->page, page->used, page->capacity);
	if (page->aligned)
		xc_text_add(text, "; aligned ones begin after the beginning of their block");
}

const struct xc_allocator xc_allocator_mimalloc = {
	.name = "mimalloc",
	.leaves_links = true,
	.checks = "segments and pages; the links of free blocks in the lists of pages and heaps, against the pages' "
		  "counts",
	.detect = detect,
	.walk = walk,
	.settle = settle,
	.fini = fini,
	.explain = explain,
};
