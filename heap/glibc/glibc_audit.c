/* The checks, and the meaning of a failure:
 *
 *	a bin         p->fd->bk == p, and all its chunks are free         write after free of p
 *	a fastbin     ends with NULL, and has no chunk twice              likewise; double free
 *	an arena      has chunks where it claims memory, and              the arena itself was overwritten
 *	              links another arena
 *	free chunks   are in a bin                                        links were overwritten
 *
 * Memory that is missing in the core breaks no check: a list that leads there ends.
 *
 * Tcaches are checked when they are found (glibc_tcache.c). */
#include "heap/glibc/glibc_audit.h"

#include <inttypes.h>
#include <stdlib.h>

struct audit {
	struct xc_glibc *glibc;
	struct xc_heap *heap;
	struct xc_audit_coverage *audit_coverage;
	struct xc_window window;
	const struct xc_glibc_arena *arena;
	unsigned word;
	uint64_t *linked; /* a bit for each block: is it in a bin or fastbin? */
	bool broken;      /* some list ends early, so that not all of its chunks are linked */
};

static void add(struct audit *a, enum xc_damage_kind kind, xc_addr addr, const char *what, const char *found)
{
	xc_heap_add_damage(a->heap, &(struct xc_damage){.kind = kind,
							.addr = addr,
							.what = what,
							.found = found,
							.lost_lo = 1,
							.arena = a->arena->index,
							.before = XC_NO_BLOCK});
}

/* Marks the block. False if it is marked already: it is in another list, or twice in this one. */
static bool link_block(struct audit *a, uint32_t block)
{
	uint64_t bit = UINT64_C(1) << (block & 63);
	a->audit_coverage->links++;
	if (a->linked[block >> 6] & bit)
		return false;
	a->linked[block >> 6] |= bit;
	return true;
}

/* ---- bins ---- */

/* The free block that a link of a bin leads to; XC_NO_BLOCK if it leads to none. */
static uint32_t free_block(const struct audit *a, xc_addr chunk)
{
	uint32_t block = xc_glibc_block(a->glibc, chunk);
	return block != XC_NO_BLOCK && xc_block_state(&a->heap->blocks, block) == XC_BLOCK_BIN ? block : XC_NO_BLOCK;
}

/* Is the target of a list unknown only because memory is missing in the core? */
static bool is_lost(const struct audit *a, xc_addr chunk)
{
	return xc_glibc_is_lost(a->glibc, chunk + 2 * a->word);
}

static void bad_link(struct audit *a, xc_addr chunk, const char *name, uint64_t link, const char *why)
{
	struct xc_arena *memory = &a->heap->memory;
	bool is_head = chunk - a->arena->addr < a->glibc->layout.state_size;
	a->broken = true;
	add(a, is_head ? XC_DAMAGE_BOOKS : XC_DAMAGE_LINK, chunk,
	    xc_arena_printf(memory, "its %s in a bin leads to 0x%" PRIx64 ", %s", name, link, why), NULL);
}

/* Follows a bin by fd (2 words after the chunk's header) and checks each bk. */
static void audit_bin(struct audit *a, xc_addr bin)
{
	const size_t most = a->heap->blocks.count;
	xc_addr at = bin;
	uint64_t next, back;
	a->audit_coverage->lists++;
	for (size_t count = 0; count <= most; count++, at = next) {
		if (!xc_glibc_jump(a->glibc, &a->window, at + 2 * a->word, &next)) {
			a->broken = true;
			return;
		}
		uint32_t block = next == bin ? XC_NO_BLOCK : free_block(a, next);
		if (next != bin && block == XC_NO_BLOCK) {
			a->broken = true;
			if (!is_lost(a, next))
				bad_link(a, at, "fd", next, "where no free chunk is");
			return;
		}
		if (!xc_glibc_jump(a->glibc, &a->window, next + 3 * a->word, &back)) {
			a->broken = true;
			return;
		}
		if (back != at && back != bin && free_block(a, back) == XC_NO_BLOCK)
			bad_link(a, next, "bk", back, "where no free chunk is");
		else if (back != at)
			bad_link(a, at, "fd", next, "which does not lead back");
		if (next == bin || !link_block(a, block))
			return;
	}
}

/* ---- fastbins ---- */

static void audit_fastbin(struct audit *a, unsigned number)
{
	const struct xc_glibc_layout *layout = &a->glibc->layout;
	const struct xc_blocks *blocks = &a->heap->blocks;
	struct xc_arena *memory = &a->heap->memory;
	xc_addr link = a->arena->addr + layout->fastbins + number * a->word, before = a->arena->addr;
	uint64_t at;
	a->audit_coverage->lists++;
	if (!xc_glibc_jump(a->glibc, &a->window, link, &at))
		return;
	while (at) {
		uint32_t block = xc_glibc_block(a->glibc, at);
		enum xc_block_state state = block == XC_NO_BLOCK ? XC_BLOCK_LIVE : xc_block_state(blocks, block);
		if (!xc_block_is_free(state) && is_lost(a, at))
			return;
		if (!xc_block_is_free(state)) {
			add(a, before == a->arena->addr ? XC_DAMAGE_BOOKS : XC_DAMAGE_LINK, before,
			    xc_arena_printf(memory, "a fastbin leads to 0x%" PRIx64 ", where no free chunk is", at),
			    NULL);
			return;
		}
		if (state != XC_BLOCK_FAST || !link_block(a, block)) {
			add(a, XC_DAMAGE_TWICE, at, "it is in a fastbin, and in a list before", NULL);
			return;
		}
		before = at;
		link = at + 2 * a->word;
		if (!xc_glibc_jump(a->glibc, &a->window, link, &at) || xc_glibc_is_open(a->glibc, link, at, 0))
			return;
		at = xc_glibc_unmangle(a->glibc, link, at);
	}
}

/* ---- the arena ---- */

static bool has_segment(const struct audit *a)
{
	for (size_t i = 0; i < a->glibc->segment_count; i++)
		if (&a->glibc->arenas[a->glibc->segments[i].arena] == a->arena)
			return true;
	return false;
}

/* All arenas are linked in a ring. */
static void audit_ring(struct audit *a)
{
	uint64_t next;
	if (!xc_glibc_jump(a->glibc, &a->window, a->arena->addr + a->glibc->layout.next, &next))
		return;
	for (size_t i = 0; i < a->glibc->arena_count; i++)
		if (a->glibc->arenas[i].addr == next)
			return;
	if (xc_heap_is_lost(a->heap, next, a->glibc->layout.state_size) || xc_glibc_is_lost(a->glibc, next))
		return;
	add(a, XC_DAMAGE_BOOKS, a->arena->addr, "its link to the next arena leads to none",
	    xc_arena_printf(&a->heap->memory, "next 0x%" PRIx64, next));
}

static void audit_arena(struct audit *a)
{
	const struct xc_glibc_layout *layout = &a->glibc->layout;
	const struct xc_glibc_segment *top = xc_glibc_segment_of(a->glibc, a->arena->top);
	struct xc_arena *memory = &a->heap->memory;
	if (a->arena->addr == 0) /* libc's memory is lost */
		return;
	audit_ring(a);
	for (unsigned k = 0; k < layout->fastbin_count; k++)
		audit_fastbin(a, k);
	for (unsigned k = 0; k < XC_GLIBC_BINS; k++)
		audit_bin(a, a->arena->addr + layout->bins + k * 2 * a->word - 2 * a->word);
	if (a->arena->top == 0 || is_lost(a, a->arena->top))
		return;
	if (!has_segment(a))
		add(a, XC_DAMAGE_BOOKS, a->arena->addr, "none of its memory was found: all its blocks are missing",
		    xc_arena_printf(memory, "top 0x%" PRIx64 ", system_mem 0x%" PRIx64, a->arena->top,
				    a->arena->system_mem));
	else if (!top || &a->glibc->arenas[top->arena] != a->arena)
		add(a, XC_DAMAGE_BOOKS, a->arena->addr, "its top chunk is outside its memory",
		    xc_arena_printf(memory, "top 0x%" PRIx64, a->arena->top));
}

/* ---- free chunks in no list ---- */

/* Only if the lists are complete: after a break every chunk would be reported. */
static void audit_unlinked(struct audit *a)
{
	const struct xc_blocks *blocks = &a->heap->blocks;
	for (uint32_t i = 0; i < blocks->count && !a->broken; i++) {
		xc_addr chunk = xc_block_addr(blocks, i) - 2 * a->word;
		const struct xc_glibc_segment *segment;
		if (xc_block_state(blocks, i) != XC_BLOCK_BIN || a->linked[i >> 6] >> (i & 63) & 1 ||
		    !(segment = xc_glibc_segment_of(a->glibc, chunk)))
			continue;
		a->arena = &a->glibc->arenas[segment->arena];
		add(a, XC_DAMAGE_BOOKS, chunk, "it is free, but in no bin", NULL);
	}
}

void xc_glibc_audit(struct xc_heap *heap, void *state, struct xc_audit_coverage *audit_coverage)
{
	struct xc_glibc *glibc = state;
	struct audit a = {.glibc = glibc, .heap = heap, .audit_coverage = audit_coverage, .word = glibc->layout.word};
	a.linked = xc_alloc((heap->blocks.count / 64 + 1) * sizeof *a.linked);
	xc_window_init(&a.window, heap->process->space);
	for (size_t i = 0; i < glibc->arena_count; i++) {
		a.arena = &glibc->arenas[i];
		if (a.arena->addr == 0) /* its lists are lost together with libc's memory */
			a.broken = true;
		else
			audit_arena(&a);
	}
	audit_unlinked(&a);
	audit_coverage->caches += glibc->caches;
	for (uint32_t i = 0; i < heap->blocks.count; i++)
		audit_coverage->cached += xc_block_state(&heap->blocks, i) == XC_BLOCK_CACHED;
	xc_window_fini(&a.window);
	free(a.linked);
}
