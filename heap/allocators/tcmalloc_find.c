/* Finds tcmalloc's spans and caches. Layouts of gperftools 2.10 for 48-bit addresses (src/thread_cache.h, span.h,
 * pagemap.h, central_freelist.h):
 *
 *	ThreadCache       FreeList[128] | size max_size | sampler | tid | next prev …
 *	FreeList          first free | length:32 low:32 | max_length:32 overages:32 | object size:32 pad:32
 *	pagemap           root[2^17] of leaves of 2^18 spans, by page number (17 + 18 bits with pages of 8 KiB)
 *	Span              start page | pages | next | prev | objects | refcount:16 sizeclass:8 location:2 sample:1 …
 *	CentralFreeList   lock | size_class | Span empty | Span nonempty | num_spans | counter | {head tail}[64]
 *	                  | used_slots:32 cache_size:32 max_cache_size:32
 *
 * Libraries of distributions export thread_heaps_, but neither the page map nor the central caches. Both are found
 * by their content. An object in a thread's cache of class k is on a page whose span, in the page map, has class k.
 * So each word of the module's data is tried as the root's entry for such an object. The spans of a class form a
 * ring through the central cache of that class, which names the class. */
#include "heap/allocators/tcmalloc_impl.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/symbol.h"

enum {
	LIST_SIZE = 32, /* of a FreeList */
	MAX_CACHES = 1 << 16,
	MAX_START = 256,  /* bytes of a ThreadCache before its lists */
	MAX_BEHIND = 256, /* … and after them, up to next */
	PIECE_OBJECTS = 1 << 16,
	EMPTY = 16, /* within a CentralFreeList */
	NONEMPTY = 64,
	SLOTS = 128,
	USED_SLOTS = SLOTS + 16 * TC_SLOTS,
	CENTRAL_SIZE = (USED_SLOTS + 12 + 63) & ~63,
};

/* ---- the caches of threads ---- */

/* The sizes of the classes if the lists of a cache begin at `lists`; 0 if those are no lists. */
static unsigned read_sizes(struct tc_finder *f, xc_addr lists, uint32_t sizes[static TC_CLASSES])
{
	const uint8_t *bytes = xc_window(&f->far, lists, LIST_SIZE * TC_CLASSES);
	unsigned count = 1;
	if (!bytes || tc_half(bytes, 24) != 0)
		return 0;
	memset(sizes, 0, TC_CLASSES * sizeof *sizes);
	for (; count < TC_CLASSES; count++) {
		uint32_t size = tc_half(bytes, count * LIST_SIZE + 24);
		if (size == 0)
			break;
		if (size <= sizes[count - 1] || size % 8 || size > 1 << 20)
			return 0;
		sizes[count] = size;
	}
	return sizes[1] == 8 || sizes[1] == 16 ? count : 0;
}

static bool find_lists(struct tc_finder *f, xc_addr cache)
{
	for (uint64_t at = 0; at <= MAX_START; at += 8) {
		unsigned count = read_sizes(f, cache + at, f->state->sizes);
		if (count < 32)
			continue;
		f->state->class_count = count;
		f->lists_at = at;
		return true;
	}
	return false;
}

/* Follows `next` at this offset; true if it leads through as many caches as there are. */
static bool follow_caches(struct tc_finder *f, xc_addr first, uint64_t next_at, uint32_t count)
{
	uint32_t sizes[TC_CLASSES];
	uint64_t at = first;
	f->cache_count = 0;
	while (at && f->cache_count < count) {
		if (at % 8 || read_sizes(f, at + f->lists_at, sizes) != f->state->class_count)
			return false;
		f->caches = xc_grow(f->caches, f->cache_count, &f->cache_capacity, sizeof *f->caches);
		f->caches[f->cache_count++] = at;
		if (!xc_window_word(&f->far, at + next_at, &at))
			return false;
	}
	return !at && f->cache_count == count;
}

static const char *find_caches(struct tc_finder *f, xc_addr thread_heaps, xc_addr thread_heap_count)
{
	uint64_t first, count = 0;
	const uint64_t lists = LIST_SIZE * TC_CLASSES;
	if (!xc_space_peek_uint(f->heap->process->space, thread_heaps, 8, &first) || !first)
		return "tcmalloc is loaded, but no thread has a cache, or its variables are not in the core";
	if (!find_lists(f, first))
		return "tcmalloc's thread caches have a layout that xcore does not know";
	xc_space_peek_uint(f->heap->process->space, thread_heap_count, 4, &count);
	if (count == 0 || count > MAX_CACHES)
		count = 1;
	for (uint64_t at = 0; at < f->lists_at; at += 8)
		if (follow_caches(f, first, at, (uint32_t)count))
			return NULL;
	for (uint64_t at = f->lists_at + lists; at < f->lists_at + lists + MAX_BEHIND; at += 8)
		if (follow_caches(f, first, at, (uint32_t)count))
			return NULL;
	/* The list of caches is broken: at least the first one is known. */
	follow_caches(f, first, f->lists_at, 1);
	f->caches = xc_grow(f->caches, 0, &f->cache_capacity, sizeof *f->caches);
	f->caches[0] = first;
	f->cache_count = 1;
	struct xc_damage damage = {.addr = first, .lost_lo = 1, .before = XC_NO_BLOCK};
	damage.what =
		xc_arena_printf(&f->heap->memory,
				"the list of %llu thread caches breaks: what others than the first hold counts as live",
				(unsigned long long)count);
	xc_heap_add_damage(f->heap, &damage);
	return NULL;
}

static void add_list(struct tc_finder *f, const struct tc_list *list)
{
	struct tc_state *state = f->state;
	if (!list->head || !list->count)
		return;
	state->lists = xc_grow(state->lists, state->list_count, &state->list_capacity, sizeof *state->lists);
	state->lists[state->list_count++] = *list;
}

static void take_caches(struct tc_finder *f)
{
	for (size_t i = 0; i < f->cache_count; i++) {
		xc_addr lists = f->caches[i] + f->lists_at;
		for (unsigned k = 1; k < f->state->class_count; k++) {
			const uint8_t *bytes = xc_window(&f->far, lists + k * LIST_SIZE, LIST_SIZE);
			if (!bytes)
				break;
			struct tc_list list = {.head = tc_word(bytes, 0),
					       .count = tc_half(bytes, 8),
					       .thread = true,
					       .size_class = (uint8_t)k};
			add_list(f, &list);
			if (list.head && list.count && f->witness_count < TC_WITNESSES)
				f->witnesses[f->witness_count++] = (struct tc_witness){list.head, k};
		}
	}
}

/* ---- the central caches ---- */

static bool is_central(struct tc_finder *f, xc_addr addr, unsigned size_class)
{
	const uint8_t *bytes = xc_inside(addr, CENTRAL_SIZE, f->state->data_lo, f->state->data_hi)
				       ? xc_window(&f->far, addr, CENTRAL_SIZE)
				       : NULL;
	return bytes && tc_word(bytes, 8) == size_class &&
	       tc_half(bytes, USED_SLOTS) <= tc_half(bytes, USED_SLOTS + 4) &&
	       tc_half(bytes, USED_SLOTS + 4) <= tc_half(bytes, USED_SLOTS + 8) &&
	       tc_half(bytes, USED_SLOTS + 8) <= TC_SLOTS;
}

/* Finds all of them, given one. The evidence is that each names its class. */
static bool take_central(struct tc_finder *f, xc_addr addr, unsigned size_class)
{
	xc_addr first = addr - (uint64_t)size_class * CENTRAL_SIZE;
	unsigned right = 0;
	for (unsigned k = 1; k < f->state->class_count; k++)
		right += is_central(f, first + (uint64_t)k * CENTRAL_SIZE, k);
	if (right + 8 < f->state->class_count)
		return false;
	f->state->central = first;
	f->state->central_step = CENTRAL_SIZE;
	return true;
}

/* The ring of a class's spans passes through its central cache, which is among the variables. */
static bool central_by_ring(struct tc_finder *f, unsigned size_class)
{
	xc_addr at = f->rings[size_class];
	for (size_t i = 0; at && i <= f->state->count; i++) {
		const uint8_t *bytes = at % 8 == 0 ? xc_window(&f->far, at, TC_SPAN) : NULL;
		if (xc_inside(at, 1, f->state->data_lo, f->state->data_hi))
			return (is_central(f, at - EMPTY, size_class) && take_central(f, at - EMPTY, size_class)) ||
			       (is_central(f, at - NONEMPTY, size_class) && take_central(f, at - NONEMPTY, size_class));
		at = bytes ? tc_word(bytes, 16) : 0;
	}
	return false;
}

static void take_transfer_caches(struct tc_finder *f)
{
	for (unsigned k = 1; k < f->state->class_count && !f->state->central; k++)
		central_by_ring(f, k);
	for (unsigned k = 1; k < f->state->class_count && f->state->central; k++) {
		xc_addr addr = f->state->central + k * f->state->central_step;
		const uint8_t *bytes = is_central(f, addr, k) ? xc_window(&f->far, addr, CENTRAL_SIZE) : NULL;
		uint32_t used = bytes ? tc_half(bytes, USED_SLOTS) : 0;
		for (uint32_t i = 0; i < used; i++)
			/* The slot has no count; the chain ends by itself. */
			add_list(f, &(struct tc_list){.head = tc_word(bytes, SLOTS + 16 * i),
						      .tail = tc_word(bytes, SLOTS + 16 * i + 8),
						      .count = TC_BATCH,
						      .size_class = (uint8_t)k});
	}
}

/* ---- all parts ---- */

/* The variables of the module that contains a symbol. */
static bool find_data(struct tc_finder *f, const struct xc_module *module, xc_addr symbol)
{
	const struct xc_process *process = f->heap->process;
	f->state->data_lo = UINT64_MAX;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (!m->writable || m->hi < module->lo || m->lo > module->hi)
			continue;
		if (m->lo < f->state->data_lo)
			f->state->data_lo = (m->lo > module->lo ? m->lo : module->lo) & ~UINT64_C(7);
		f->state->data_hi = m->hi < module->hi ? m->hi : module->hi;
	}
	return symbol >= f->state->data_lo && symbol <= f->state->data_hi;
}

/* Regions are runs of spans; pieces have about equal numbers of objects. */
static void cut(struct tc_finder *f)
{
	struct tc_state *state = f->state;
	uint64_t objects = PIECE_OBJECTS;
	state->pieces = xc_alloc((state->count + 1) * sizeof *state->pieces);
	struct xc_region region = {.arena = state->arena, .what = "spans"};
	for (size_t i = 0; i < state->count; i++) {
		const struct tc_span *span = &state->spans[i];
		if (objects >= PIECE_OBJECTS)
			state->pieces[state->piece_count++] = i, objects = 0;
		objects += tc_objects(span);
		if (i == 0 || span->lo != region.hi + 1) {
			if (i)
				xc_heap_add_region(f->heap, &region);
			region.lo = span->lo;
		}
		region.hi = span->lo + span->bytes - 1;
	}
	if (state->count)
		xc_heap_add_region(f->heap, &region);
	state->pieces[state->piece_count] = state->count;
}

static const char *find_all(struct tc_finder *f, const struct xc_module *module, xc_addr thread_heaps, xc_addr count)
{
	if (!find_data(f, module, thread_heaps))
		return "tcmalloc's variables are not where its file says";
	const char *why = find_caches(f, thread_heaps, count);
	if (why)
		return why;
	take_caches(f);
	if (!f->witness_count)
		return "tcmalloc's page map cannot be found: no thread has anything in its cache";
	if (!tc_find_pagemap(f))
		return "tcmalloc's page map was not found: its layout is not one of gperftools 2.7 to 2.15, or it is "
		       "damaged";
	tc_find_spans(f);
	take_transfer_caches(f);
	return NULL;
}

bool tc_find(struct xc_heap *heap, struct tc_state *state, const char **why_out)
{
	struct tc_finder f = {.heap = heap, .state = state};
	struct xc_module *module = NULL;
	xc_addr heaps = 0, count = 0;
	const struct xc_arch *arch = heap->process->arch;
	if (!xc_symbol_find(heap->process, "_ZN8tcmalloc11ThreadCache13thread_heaps_E", &module, &heaps) || !module)
		return false;
	if (arch->word != 8 || arch->big_endian) {
		*why_out = "tcmalloc is read only where words are 8 bytes, little-endian";
		return false;
	}
	xc_symbol_find(heap->process, "_ZN8tcmalloc11ThreadCache18thread_heap_count_E", NULL, &count);
	xc_window_init(&f.window, heap->process->space);
	xc_window_init(&f.far, heap->process->space);
	f.rings = xc_alloc(TC_CLASSES * sizeof *f.rings);
	state->arena = (uint32_t)heap->arena_count; /* damage names it before it is added */
	const char *why = find_all(&f, module, heaps, count);
	if (!why) {
		char *evidence =
			xc_asprintf("symbol thread_heaps_, %zu caches, %u classes; page map at 0x%llx, pages of %u "
				    "KiB (%zu of %zu cached objects lie in spans of their class); %s",
				    f.cache_count, state->class_count - 1, (unsigned long long)state->pagemap,
				    1U << (state->page_bits - 10), f.agreed, f.witness_count,
				    state->central ? "central caches by the rings of their spans"
						   : "central caches not found: objects in transfer count as live");
		xc_heap_add_arena(heap, &(struct xc_heap_arena){.allocator = &xc_allocator_tcmalloc,
								.name = "tcmalloc",
								.addr = state->pagemap,
								.evidence = evidence});
		free(evidence);
		cut(&f);
	} else {
		*why_out = why;
	}
	free(f.caches);
	free(f.rings);
	xc_window_fini(&f.window);
	xc_window_fini(&f.far);
	return !why;
}
