/* jemalloc: the blocks of jemalloc 5. Extents come from its radix tree (jemalloc_tree.c, jemalloc_extent.c). A slab
 * is divided into regions of one size, a large extent is one block, and a free extent is one free block.
 *
 *	slab    | region 0 | region 1 | … | region n - 1 |        state by bitmap, and by the caches of threads
 *	large   | 0 to 63 cache lines | block         | pad |
 *
 * jemalloc's own data (base blocks with records, nodes and arenas; stacks of caches) are overhead and not blocks. */
#include "heap/allocators/jemalloc_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/symbol.h"

enum {
	MIN_BLOCK = 8,
	ARENAS = 4096,          /* the numbers that records can hold */
	NO_ARENA = ARENAS - 1,  /* the arena of extents that belong to none */
	PIECE_BLOCKS = 1 << 16, /* blocks of a piece of work */
};

/* ---- arenas and regions ---- */

/* The place of its arena_t, if jemalloc's symbols show it. */
static xc_addr arena_addr(const struct xc_jemalloc *je, size_t tree, unsigned number)
{
	struct xc_module *module;
	xc_addr at;
	uint64_t addr = 0;
	const char *prefix = je->trees[tree].prefix;
	if (!prefix || number == NO_ARENA)
		return 0;
	char *name = xc_asprintf("%sarenas", prefix);
	const struct xc_symbol *symbol = xc_symbol_find(je->heap->process, name, &module, &at);
	if (symbol && module == je->trees[tree].module)
		xc_space_peek_uint(je->heap->process->space, at + 8 * number, 8, &addr);
	free(name);
	return addr;
}

static uint32_t add_arena(struct xc_jemalloc *je, size_t tree, unsigned number)
{
	const char *in = je->tree_count > 1 ? je->trees[tree].module->name : NULL;
	char *name = number == NO_ARENA ? xc_asprintf("no arena") : xc_asprintf("arena %u", number);
	char *full = in ? xc_asprintf("%s of %s", name, in) : NULL;
	struct xc_heap_arena arena = {.allocator = &xc_allocator_jemalloc,
				      .name = full ? full : name,
				      .addr = arena_addr(je, tree, number),
				      .evidence = je->evidence[tree]};
	uint32_t index = xc_heap_add_arena(je->heap, &arena);
	free(name);
	free(full);
	return index;
}

/* The heap's arena for it. */
static uint32_t arena_of(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent)
{
	return je->arenas[extent->tree * ARENAS + extent->arena];
}

static const char *what_of(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *e)
{
	static const char *const free_ones[] = {NULL, "dirty extent", "muzzy extent", "retained extent"};
	if (e->state >= XC_COUNT(free_ones))
		return "extent in transition";
	if (e->state != XC_JEMALLOC_ACTIVE)
		return free_ones[e->state];
	return e->slab ? "slab" : xc_jemalloc_block_count(je, e) ? "large extent" : "unused extent";
}

static xc_addr page_of(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *e)
{
	return e->addr & ~(je->layouts[e->tree].page - 1);
}

static void add_regions(struct xc_jemalloc *je)
{
	je->arenas = xc_alloc(je->tree_count * ARENAS * sizeof *je->arenas);
	memset(je->arenas, 0xff, je->tree_count * ARENAS * sizeof *je->arenas);
	for (size_t i = 0; i < je->extent_count; i++) {
		const struct xc_jemalloc_extent *e = &je->extents[i];
		uint32_t *arena = &je->arenas[e->tree * ARENAS + e->arena];
		if (*arena == UINT32_MAX)
			*arena = add_arena(je, e->tree, e->arena);
		xc_addr lo = page_of(je, e);
		xc_heap_add_region(je->heap, &(struct xc_region){lo, lo + e->size - 1, *arena, what_of(je, e)});
	}
}

/* ---- detect ---- */

static int by_extent(const void *a, const void *b)
{
	const struct xc_jemalloc_extent *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The extents of several trees do not overlap; those of hostile trees might. */
static void order_extents(struct xc_jemalloc *je)
{
	size_t kept = 0;
	xc_addr end = 0;
	if (je->tree_count > 1)
		qsort(je->extents, je->extent_count, sizeof *je->extents, by_extent);
	for (size_t i = 0; i < je->extent_count; i++) {
		xc_addr lo = page_of(je, &je->extents[i]);
		if (lo < end)
			continue;
		end = lo + je->extents[i].size;
		je->extents[kept++] = je->extents[i];
	}
	je->extent_count = kept;
}

/* Blocks beyond what the readable memory can hold are not believed. */
static void bound_blocks(struct xc_jemalloc *je)
{
	const struct xc_space *space = je->heap->process->space;
	uint64_t left = 0;
	for (size_t i = 0; i < xc_space_count(space); i++) {
		const struct xc_segment *s = xc_space_at(space, i);
		left += s->provenance < XC_NOT_DUMPED ? (s->hi - s->lo) / MIN_BLOCK : 0;
	}
	for (size_t i = 0; i < je->extent_count; i++) {
		unsigned count = xc_jemalloc_block_count(je, &je->extents[i]);
		if (count > left) {
			const struct xc_jemalloc_extent *last = &je->extents[je->extent_count - 1];
			xc_heap_add_damage(
				je->heap,
				&(struct xc_damage){.addr = je->extents[i].edata,
						    .what = "there are more slabs than the memory can hold: those from "
							    "here on are left out",
						    .lost_lo = je->extents[i].addr,
						    .lost_hi = page_of(je, last) + last->size - 1,
						    .before = XC_NO_BLOCK});
			je->extent_count = i;
		}
		left -= count;
	}
}

static void cut_in_pieces(struct xc_jemalloc *je)
{
	size_t capacity = 0, blocks = PIECE_BLOCKS;
	for (size_t i = 0; i < je->extent_count; i++) {
		if (blocks >= PIECE_BLOCKS) {
			je->pieces = xc_grow(je->pieces, je->piece_count, &capacity, sizeof *je->pieces);
			je->pieces[je->piece_count++] = i;
			blocks = 0;
		}
		blocks += 1 + xc_jemalloc_block_count(je, &je->extents[i]);
	}
	je->pieces = xc_grow(je->pieces, je->piece_count, &capacity, sizeof *je->pieces);
	je->pieces[je->piece_count] = je->extent_count;
}

static void fini(void *state)
{
	struct xc_jemalloc *je = state;
	for (size_t i = 0; i < XC_JEMALLOC_TREES; i++) {
		free(je->trees[i].leaves);
		free(je->evidence[i]);
	}
	free(je->bases);
	free(je->extents);
	free(je->caches);
	free(je->cached);
	free(je->internal);
	free(je->pieces);
	free(je->arenas);
	free(je);
}

static void drop_tree(struct xc_jemalloc *je, size_t tree)
{
	free(je->trees[tree].leaves);
	je->tree_count--;
	memmove(&je->trees[tree], &je->trees[tree + 1], (je->tree_count - tree) * sizeof *je->trees);
	je->trees[je->tree_count].leaves = NULL;
}

static void *detect(struct xc_heap *heap, size_t *pieces_out, const char **why_out)
{
	const struct xc_arch *arch = heap->process->arch;
	if (arch->word != 8 || arch->big_endian)
		return NULL;
	struct xc_jemalloc *je = xc_alloc(sizeof *je);
	je->heap = heap;
	je->tree_count = xc_jemalloc_find_trees(je, why_out);
	for (size_t i = 0; i < je->tree_count;)
		if (xc_jemalloc_read_extents(je, i, why_out))
			i++;
		else
			drop_tree(je, i);
	if (je->tree_count == 0) {
		fini(je);
		return NULL;
	}
	order_extents(je);
	bound_blocks(je);
	xc_jemalloc_find_bases(je);
	xc_jemalloc_read_caches(je);
	add_regions(je);
	for (size_t i = 0; i < je->base_count; i++)
		xc_heap_add_region(heap,
				   &(struct xc_region){je->bases[i].lo, je->bases[i].hi, 0, "jemalloc's own data"});
	cut_in_pieces(je);
	*pieces_out = je->piece_count;
	return je;
}

/* ---- walk ---- */

/* A sorted list of addresses, traversed upwards. */
struct passing {
	const uint64_t *items;
	size_t at, count;
};

static struct passing pass_from(const uint64_t *items, size_t count, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(count, i, items[i] < addr);
	return (struct passing){items, lo, count};
}

static inline bool pass(struct passing *p, xc_addr addr)
{
	while (p->at < p->count && p->items[p->at] < addr)
		p->at++;
	return p->at < p->count && p->items[p->at] == addr;
}

static void walk_slab(struct xc_walk *walk, const struct xc_jemalloc_extent *e)
{
	const struct xc_jemalloc *je = walk->state;
	uint64_t bitmap[XC_JEMALLOC_BITMAP], size = xc_jemalloc_block_size(je, e);
	unsigned count = xc_jemalloc_block_count(je, e);
	bool known = !e->doubtful && xc_jemalloc_bitmap(je, e, bitmap);
	struct passing cached = pass_from(je->cached, je->cached_count, e->addr);
	struct passing internal = pass_from(je->internal, je->internal_count, e->addr);
	for (unsigned i = 0; i < count; i++) {
		xc_addr addr = e->addr + i * size;
		enum xc_block_state state = !known                           ? XC_BLOCK_UNKNOWN
					    : bitmap[i / 64] >> (i % 64) & 1 ? XC_BLOCK_BIN
									     : XC_BLOCK_LIVE;
		if (pass(&cached, addr))
			state = XC_BLOCK_CACHED;
		if (!pass(&internal, addr))
			xc_block_list_add(&walk->blocks, addr, size, state);
	}
}

static void walk_large(struct xc_walk *walk, const struct xc_jemalloc_extent *e)
{
	const struct xc_jemalloc *je = walk->state;
	uint64_t size = xc_jemalloc_block_size(je, e), most = page_of(je, e) + e->size - e->addr;
	struct passing cached = pass_from(je->cached, je->cached_count, e->addr);
	struct passing internal = pass_from(je->internal, je->internal_count, e->addr);
	enum xc_block_state state = pass(&cached, e->addr)       ? XC_BLOCK_CACHED
				    : e->doubtful || size > most ? XC_BLOCK_UNKNOWN
								 : XC_BLOCK_LIVE;
	if (!pass(&internal, e->addr))
		xc_block_list_add(&walk->blocks, e->addr, size < most ? size : most, state);
}

static void walk_piece(struct xc_walk *walk, size_t piece)
{
	const struct xc_jemalloc *je = walk->state;
	size_t most = 0;
	for (size_t i = je->pieces[piece]; i < je->pieces[piece + 1]; i++)
		most += 1 + xc_jemalloc_block_count(je, &je->extents[i]);
	xc_block_list_init(&walk->blocks, most);
	for (size_t i = je->pieces[piece]; i < je->pieces[piece + 1]; i++) {
		const struct xc_jemalloc_extent *e = &je->extents[i];
		if (xc_jemalloc_block_count(je, e) && e->slab)
			walk_slab(walk, e);
		else if (xc_jemalloc_block_count(je, e))
			walk_large(walk, e);
		else
			xc_block_list_add(&walk->blocks, page_of(je, e), e->size,
					  e->state == XC_JEMALLOC_RETAINED ? XC_BLOCK_TOP : XC_BLOCK_BIN);
	}
}

/* ---- explain ---- */

static void explain(const struct xc_heap *heap, void *state, uint32_t block, struct xc_text *text)
{
	const struct xc_jemalloc *je = state;
	xc_addr addr = xc_block_addr(&heap->blocks, block);
	const struct xc_jemalloc_extent *e = xc_jemalloc_extent_at(je, addr);
	if (!e)
		return;
	uint64_t size = xc_jemalloc_block_size(je, e);
	const char *arena = heap->arenas[arena_of(je, e)].name;
	if (size && e->slab)
		xc_text_printf(text, "region %" PRIu64 " of %u of slab 0x%" PRIx64 ", size class %" PRIu64 ", %s",
			       (addr - e->addr) / size, xc_jemalloc_block_count(je, e), e->addr, size, arena);
	else if (size)
		xc_text_printf(text, "large extent of 0x%" PRIx64 " bytes at 0x%" PRIx64 ", size class %" PRIu64 ", %s",
			       e->size, page_of(je, e), size, arena);
	else
		xc_text_printf(text, "%s of 0x%" PRIx64 " bytes, %s", what_of(je, e), e->size, arena);
}

/* jemalloc 5 (sc.h): four classes for each doubling, from 16 on; 8 below. */
static bool fits(uint64_t wanted, uint64_t size, unsigned word)
{
	(void)word;
	if (wanted <= 128)
		return size == (wanted <= 8 ? 8 : (wanted + 15) & ~(uint64_t)15) || size - wanted < 16;
	uint64_t step = (uint64_t)1 << (63 - __builtin_clzll(wanted - 1) - 2);
	return size == ((wanted + step - 1) & ~(step - 1)) || size - wanted < 4096;
}

static const char *const own_types[] = {"arena_s", "arena_t", "edata_s", "bin_s", NULL};

const struct xc_allocator xc_allocator_jemalloc = {
	.name = "jemalloc",
	.checks =
		"the records of extents against the radix tree, slabs' bitmaps against their counts, caches of threads",
	.own_types = own_types,
	.detect = detect,
	.walk = walk_piece,
	.fini = fini,
	.explain = explain,
	.fits = fits,
};
