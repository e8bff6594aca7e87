/* glibc: malloc of the GNU C library, 2.26 and later. glibc_impl.h describes the steps, glibc_layout.h the layouts. */
#include <inttypes.h>
#include <stdlib.h>

#include "heap/glibc/glibc_audit.h"

static const char *evidence(const struct xc_glibc *glibc, const struct xc_glibc_arena *arena)
{
	struct xc_arena *memory = &glibc->heap->memory;
	if (arena->main)
		return arena->how;
	return xc_arena_printf(memory, "%s; heaps at multiples of %" PRIu64 " MiB with a header of 0x%x", arena->how,
			       glibc->layout.heap_max >> 20, glibc->layout.heap_info);
}

static void add_arenas(struct xc_glibc *glibc)
{
	struct xc_heap *heap = glibc->heap;
	for (size_t i = 0; i < glibc->arena_count; i++) {
		struct xc_glibc_arena *arena = &glibc->arenas[i];
		const char *name =
			arena->main ? "main arena" : xc_arena_printf(&heap->memory, "arena %u", arena->number);
		arena->index = xc_heap_add_arena(heap, &(struct xc_heap_arena){.allocator = &xc_allocator_glibc,
									       .name = name,
									       .addr = arena->addr,
									       .size = glibc->layout.state_size,
									       .system = arena->system_mem,
									       .evidence = evidence(glibc, arena)});
	}
	for (size_t i = 0; i < glibc->arena_count; i++)
		if (glibc->arenas[i].heaps_damaged)
			xc_heap_add_damage(
				heap,
				&(struct xc_damage){.kind = XC_DAMAGE_BOOKS,
						    .addr = glibc->arenas[i].addr - glibc->layout.heap_info,
						    .what = "the headers of the arena's heaps do not lead from its "
							    "top to its first heap",
						    .lost_lo = 1,
						    .arena = glibc->arenas[i].index,
						    .before = XC_NO_BLOCK});
	glibc->mapped_arena = xc_heap_add_arena(heap, &(struct xc_heap_arena){.allocator = &xc_allocator_glibc,
									      .name = "mmapped",
									      .evidence = glibc->mapped_how});
}

static void add_regions(struct xc_glibc *glibc)
{
	for (size_t i = 0; i < glibc->segment_count; i++) {
		const struct xc_glibc_segment *s = &glibc->segments[i];
		xc_heap_add_region(glibc->heap,
				   &(struct xc_region){s->lo, s->hi, glibc->arenas[s->arena].index, s->what});
	}
	for (size_t i = 0; i < glibc->mapped_count; i++) {
		const struct xc_glibc_mapped *m = &glibc->mapped[i];
		xc_heap_add_region(glibc->heap, &(struct xc_region){m->chunk, m->chunk + m->size - 1,
								    glibc->mapped_arena, "mmapped chunk"});
	}
}

static void fini(void *state)
{
	struct xc_glibc *glibc = state;
	free(glibc->arenas);
	free(glibc->segments);
	free(glibc->mapped);
	free(glibc->pieces);
	free(glibc->anchors);
	free(glibc->tls);
	pthread_mutex_destroy(&glibc->lock);
	free(glibc);
}

static void *detect(struct xc_heap *heap, size_t *pieces_out, const char **why_out)
{
	struct xc_glibc *glibc = xc_alloc(sizeof *glibc);
	struct xc_window window;
	glibc->heap = heap;
	glibc->layout.word = heap->process->arch->word;
	pthread_mutex_init(&glibc->lock, NULL);
	xc_window_init(&window, heap->process->space);
	bool there = !heap->process->arch->big_endian && xc_glibc_find_arenas(glibc, &window, why_out);
	if (there) {
		xc_glibc_find_segments(glibc, &window);
		xc_glibc_find_mapped(glibc, &window);
		xc_glibc_find_free(glibc, &window);
		xc_glibc_plan(glibc, &window);
		add_arenas(glibc);
		add_regions(glibc);
		*pieces_out = glibc->piece_count + 1;
	}
	xc_window_fini(&window);
	if (there)
		return glibc;
	fini(glibc);
	return NULL;
}

static void settle(struct xc_heap *heap, void *state)
{
	struct xc_glibc *glibc = state;
	struct xc_window window;
	xc_window_init(&window, heap->process->space);
	xc_glibc_settle_fast(glibc, &window);
	xc_glibc_settle_tcaches(glibc, &window);
	xc_window_fini(&window);
}

static void explain(const struct xc_heap *heap, void *state, uint32_t block, struct xc_text *text)
{
	const struct xc_glibc *glibc = state;
	const xc_addr addr = xc_block_addr(&heap->blocks, block);
	const struct xc_thread *thread = xc_glibc_tcache_of(glibc, block);
	struct xc_glibc_chunk chunk;
	struct xc_window window;
	xc_window_init(&window, heap->process->space);
	if (xc_glibc_chunk(glibc, &window, addr - 2 * glibc->layout.word, &chunk))
		xc_text_printf(text, "chunk 0x%" PRIx64 ": size 0x%" PRIx64 "%s%s%s", chunk.addr,
			       xc_glibc_size(chunk.head), chunk.head & XC_GLIBC_NON_MAIN ? ", NON_MAIN_ARENA" : "",
			       chunk.head & XC_GLIBC_MMAPPED ? ", IS_MMAPPED" : "",
			       chunk.head & XC_GLIBC_PREV_INUSE ? ", PREV_INUSE" : "");
	if (thread)
		xc_text_printf(text, "; the tcache of thread %d", (int)thread->tid);
	xc_window_fini(&window);
}

/* glibc 2.26 to 2.43 (malloc.c, request2size): a word of header is added, then the size is rounded up to 16. At
 * least four words less the header are usable. Mmapped chunks are rounded up to pages. */
static bool fits(uint64_t wanted, uint64_t size, unsigned word)
{
	uint64_t usable = wanted <= 3 * word ? 3 * word : ((wanted + word + 15) & ~(uint64_t)15) - word;
	return size == usable || (size >= 0x20000 && size - wanted < 4096 + 16);
}

/* A chunk that is split keeps the remainder (16 bytes) if that is too small for a chunk. */
static bool may_fit(uint64_t wanted, uint64_t size, unsigned word)
{
	return word == 8 && size >= 40 && wanted <= size - 16 && fits(wanted, size - 16, word);
}

static const char *const own_types[] = {"malloc_chunk", "malloc_state", "tcache_entry",
					"_heap_info",   "heap_info",    NULL};

const struct xc_allocator xc_allocator_glibc = {
	.name = "glibc",
	.checks =
		"the header of every chunk against the chunk after it; bins, fastbins and caches of threads (tcaches); "
		"arenas",
	.headers = XC_HEADERS_ALL,
	.own_types = own_types,
	.detect = detect,
	.walk = xc_glibc_walk,
	.join = xc_glibc_join,
	.settle = settle,
	.fini = fini,
	.audit = xc_glibc_audit,
	.explain = explain,
	.fits = fits,
	.may_fit = may_fit,
};
