/* Where tcmalloc keeps its spans and caches. Layouts of gperftools 2.10 for 48-bit addresses (src/thread_cache.h, span.h, pagemap.h,
 * central_freelist.h):
 *
 *	ThreadCache       FreeList[128] | size max_size | sampler | tid | next prev …
 *	FreeList          first free | length:32 low:32 | max_length:32 overages:32 | object size:32 pad:32
 *	pagemap           root[2^17] of leaves of 2^18 spans, by page number (17 + 18 bits with pages of 8 KiB)
 *	Span              start page | pages | next | prev | objects | refcount:16 sizeclass:8 location:2 sample:1 …
 *	CentralFreeList   lock | size_class | Span empty | Span nonempty | num_spans | counter | {head tail}[64]
 *	                  | used_slots:32 cache_size:32 max_cache_size:32
 *
 * Libraries of distributions name thread_heaps_ (it is exported), but neither the page map nor the central caches. Both are found by
 * what they say: an object in a thread's cache of class k lies on a page whose span, by the page map, has class k: so each
 * word of the module's data is tried as the entry of the root that such an object needs. Spans of a class are linked in a ring through
 * the central cache of that class, which names the class. */
#include "tcmalloc_impl.h"

#include <stdlib.h>
#include <string.h>

#include "../dwarf/symbol.h"

enum {
	LIST_SIZE = 32, /* of a FreeList */
	MAX_CACHES = 1 << 16,
	WITNESSES = 64,   /* objects that are asked about the page map */
	MAX_START = 256,  /* bytes of a ThreadCache before its lists */
	MAX_BEHIND = 256, /* … and behind them, up to next */
	PIECE_OBJECTS = 1 << 16,
	MOST_PAGES = 1 << 12, /* of a span with a class */
	EMPTY = 16,           /* within a CentralFreeList */
	NONEMPTY = 64,
	SLOTS = 128,
	USED_SLOTS = SLOTS + 16 * TC_SLOTS,
	CENTRAL_SIZE = (USED_SLOTS + 12 + 63) & ~63,
};

/* An object in a thread's cache. */
struct witness {
	xc_addr object;
	unsigned size_class;
};

struct finder {
	struct xc_heap *heap;
	struct tc_state *state;
	struct xc_window window; /* of the module's data, scanned */
	struct xc_window far;    /* of what it points to */
	xc_addr *caches;
	size_t cache_count, cache_capacity;
	uint64_t lists_at; /* of FreeList[0] within a ThreadCache */
	struct witness witnesses[WITNESSES];
	size_t witness_count, agreed;
	xc_addr *rings; /* per class: the last span of it seen */
};

static uint64_t word_of(const uint8_t *bytes, size_t offset)
{
	uint64_t word;
	memcpy(&word, bytes + offset, sizeof word);
	return word;
}

static uint32_t half_of(const uint8_t *bytes, size_t offset)
{
	uint32_t half;
	memcpy(&half, bytes + offset, sizeof half);
	return half;
}

/* ---- the caches of threads ---- */

/* Sizes of the classes, when the lists of a cache begin at `lists`; 0 when those are no lists. */
static unsigned read_sizes(struct finder *f, xc_addr lists, uint32_t sizes[static TC_CLASSES])
{
	const uint8_t *bytes = xc_window(&f->far, lists, LIST_SIZE * TC_CLASSES);
	unsigned count = 1;
	if (!bytes || half_of(bytes, 24) != 0)
		return 0;
	memset(sizes, 0, TC_CLASSES * sizeof *sizes);
	for (; count < TC_CLASSES; count++) {
		uint32_t size = half_of(bytes, count * LIST_SIZE + 24);
		if (size == 0)
			break;
		if (size <= sizes[count - 1] || size % 8 || size > 1 << 20)
			return 0;
		sizes[count] = size;
	}
	return sizes[1] == 8 || sizes[1] == 16 ? count : 0;
}

static bool find_lists(struct finder *f, xc_addr cache)
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

/* Follow `next`, if it stands at this offset: as many caches as there are. */
static bool follow_caches(struct finder *f, xc_addr first, uint64_t next_at, uint32_t count)
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

static const char *find_caches(struct finder *f, xc_addr thread_heaps, xc_addr thread_heap_count)
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
	/* The list of caches is broken: the first one at least is known. */
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

static void add_list(struct finder *f, const struct tc_list *list)
{
	struct tc_state *state = f->state;
	if (!list->head || !list->count)
		return;
	state->lists = xc_grow(state->lists, state->list_count, &state->list_capacity, sizeof *state->lists);
	state->lists[state->list_count++] = *list;
}

static void take_caches(struct finder *f)
{
	for (size_t i = 0; i < f->cache_count; i++) {
		xc_addr lists = f->caches[i] + f->lists_at;
		for (unsigned k = 1; k < f->state->class_count; k++) {
			const uint8_t *bytes = xc_window(&f->far, lists + k * LIST_SIZE, LIST_SIZE);
			if (!bytes)
				break;
			struct tc_list list = {.head = word_of(bytes, 0),
					       .count = half_of(bytes, 8),
					       .thread = true,
					       .size_class = (uint8_t)k};
			add_list(f, &list);
			if (list.head && list.count && f->witness_count < WITNESSES)
				f->witnesses[f->witness_count++] = (struct witness){list.head, k};
		}
	}
}

/* ---- the page map ---- */

/* Does a span lie on this page? Then its class, else 0. */
static unsigned class_on_page(struct finder *f, xc_addr span, uint64_t page)
{
	const uint8_t *bytes = span % 8 == 0 ? xc_window(&f->far, span, TC_SPAN) : NULL;
	if (!bytes || page - word_of(bytes, 0) >= word_of(bytes, 8))
		return 0;
	return half_of(bytes, 40) >> 16 & 255;
}

/* What the leaf that would hold a witness says about its class. */
static unsigned class_by_leaf(struct finder *f, uint64_t leaf, uint64_t page)
{
	uint64_t span, index = page & ((UINT64_C(1) << f->state->leaf_bits) - 1);
	if (leaf % 8 || !leaf || !xc_window_word(&f->far, leaf + 8 * index, &span) || !span)
		return 0;
	return class_on_page(f, span, page);
}

static size_t ask_witnesses(struct finder *f, xc_addr root)
{
	size_t agreed = 0;
	for (size_t i = 0; i < f->witness_count; i++) {
		uint64_t page = f->witnesses[i].object >> f->state->page_bits, leaf;
		if (xc_window_word(&f->far, root + 8 * (page >> f->state->leaf_bits), &leaf))
			agreed += class_by_leaf(f, leaf, page) == f->witnesses[i].size_class;
	}
	return agreed;
}

/* Try the words of a run of data as the root's entry of one witness. */
static bool try_run(struct finder *f, const struct witness *witness, xc_addr addr, const uint8_t *bytes, uint64_t len)
{
	uint64_t page = witness->object >> f->state->page_bits;
	for (uint64_t at = 0; at + 8 <= len; at += 8) {
		uint64_t leaf = word_of(bytes, at);
		if (!leaf || leaf >> 48 || class_by_leaf(f, leaf, page) != witness->size_class)
			continue;
		xc_addr root = addr + at - 8 * (page >> f->state->leaf_bits);
		size_t agreed = ask_witnesses(f, root);
		if (agreed <= f->agreed)
			continue;
		f->agreed = agreed;
		f->state->pagemap = root;
		if (agreed == f->witness_count)
			return true;
	}
	return false;
}

static bool try_data(struct finder *f, const struct witness *witness)
{
	for (xc_addr at = f->state->data_lo; at < f->state->data_hi;) {
		uint64_t len;
		const uint8_t *bytes = xc_window_run(&f->window, at, f->state->data_hi - at + 1, &len);
		if (bytes && try_run(f, witness, at, bytes, len))
			return true;
		at += bytes && len >= 8 ? len & ~UINT64_C(7) : 8;
	}
	return false;
}

/* Every size of pages that gperftools can be built for; one witness may be a damaged pointer, so several are tried. */
static bool find_pagemap(struct finder *f)
{
	static const uint8_t page_bits[] = {13, 12, 15, 16, 18};
	unsigned best = 0;
	xc_addr root = 0;
	for (size_t i = 0; i < XC_COUNT(page_bits) && f->agreed < f->witness_count; i++) {
		size_t before = f->agreed;
		f->state->page_bits = page_bits[i];
		f->state->leaf_bits = (48U - page_bits[i] + 1) / 2;
		for (size_t k = 0; k < f->witness_count && k < 4; k++)
			if (try_data(f, &f->witnesses[k]) || 2 * f->agreed > f->witness_count)
				break;
		if (f->agreed > before) {
			best = page_bits[i];
			root = f->state->pagemap;
		}
	}
	f->state->page_bits = best;
	f->state->leaf_bits = (48U - best + 1) / 2;
	f->state->pagemap = root;
	return 2 * f->agreed > f->witness_count;
}

/* ---- spans ---- */

static void damaged_span(struct finder *f, xc_addr addr, xc_addr page, const char *what)
{
	struct xc_damage damage = {.addr = page,
				   .what = what,
				   .lost_lo = page,
				   .lost_hi = page + (UINT64_C(1) << f->state->page_bits) - 1,
				   .arena = f->state->arena,
				   .before = XC_NO_BLOCK};
	damage.found = xc_arena_printf(&f->heap->memory, "Span 0x%llx", (unsigned long long)addr);
	xc_heap_add_damage(f->heap, &damage);
}

/* What is wrong with a span, or NULL. */
static const char *check_span(const struct finder *f, const struct tc_span *span, uint64_t pages)
{
	const struct xc_mapping *first = xc_process_mapping(f->heap->process, span->lo);
	if (!pages || pages > (UINT64_C(1) << 48) >> f->state->page_bits)
		return "span of an impossible length";
	if (!first || !first->writable || !xc_process_mapping(f->heap->process, span->lo + span->bytes - 1))
		return "span of pages that are not mapped";
	if (span->location > TC_RETURNED || span->size_class >= f->state->class_count)
		return "span of a class or list that does not exist";
	if (span->size_class && (pages > MOST_PAGES || span->size > span->bytes))
		return "span whose class does not fit its length";
	return NULL;
}

/* The span that begins at a page: it is added. Returns how many pages it has; 0 when none begins there. */
static uint64_t take_span(struct finder *f, xc_addr addr, uint64_t page)
{
	const uint8_t *bytes = addr % 8 == 0 ? xc_window(&f->far, addr, TC_SPAN) : NULL;
	struct tc_state *state = f->state;
	if (!bytes || word_of(bytes, 0) != page) {
		damaged_span(f, addr, page << state->page_bits, "page whose span does not begin there");
		return 0;
	}
	uint64_t pages = word_of(bytes, 8), bits = word_of(bytes, 40);
	struct tc_span span = {.span = addr,
			       .lo = page << state->page_bits,
			       .bytes = pages << state->page_bits,
			       .objects = word_of(bytes, 32),
			       .in_use = (uint16_t)bits,
			       .size_class = bits >> 16 & 255,
			       .location = bits >> 24 & 3};
	if (span.location != TC_IN_USE)
		span.size_class = 0;
	span.size = span.size_class < state->class_count ? state->sizes[span.size_class] : 0;
	const char *wrong = check_span(f, &span, pages);
	if (wrong) {
		damaged_span(f, addr, span.lo, wrong);
		return 0;
	}
	if (span.size_class)
		f->rings[span.size_class] = addr;
	state->spans = xc_grow(state->spans, state->count, &state->capacity, sizeof *state->spans);
	state->spans[state->count++] = span;
	return pages;
}

/* One leaf; *next is the first page that no span so far covers. */
static void take_leaf(struct finder *f, xc_addr leaf, uint64_t first, uint64_t *next)
{
	uint64_t end = first + (UINT64_C(1) << f->state->leaf_bits), lost = 0, len;
	for (uint64_t page = *next > first ? *next : first; page < end;) {
		const uint8_t *bytes = xc_window_run(&f->window, leaf + 8 * (page - first), 8 * (end - page), &len);
		uint64_t from = page, step = 1;
		for (; bytes && page < end && len >= 8 && page - from <= len / 8 - 1; page += step) {
			uint64_t span = word_of(bytes, 8 * (page - from));
			step = 1;
			if (!span || span == lost)
				continue;
			step = take_span(f, span, page);
			lost = step ? 0 : span;
			step = step ? step : 1;
		}
		if (page == from)
			page += 512 - page % 512; /* not readable: the next page of the leaf, or about that */
	}
	*next = f->state->count
			? (f->state->spans[f->state->count - 1].lo + f->state->spans[f->state->count - 1].bytes) >>
				  f->state->page_bits
			: 0;
}

/* Leaves that there can be: a bound that hostile roots do not pass. */
static uint64_t most_leaves(const struct finder *f)
{
	const struct xc_process *process = f->heap->process;
	unsigned bits = f->state->page_bits + f->state->leaf_bits;
	uint64_t most = 0;
	for (size_t i = 0; i < process->mapping_count; i++)
		if (process->mappings[i].writable)
			most += ((process->mappings[i].hi - process->mappings[i].lo) >> bits) + 2;
	return most;
}

static void find_spans(struct finder *f)
{
	uint64_t most = most_leaves(f), next = 0, leaf;
	unsigned root_bits = 48 - f->state->page_bits - f->state->leaf_bits;
	for (uint64_t i = 0; i < UINT64_C(1) << root_bits && most; i++)
		if (xc_window_word(&f->far, f->state->pagemap + 8 * i, &leaf) && leaf && leaf % 8 == 0) {
			take_leaf(f, leaf, i << f->state->leaf_bits, &next);
			most--;
		}
}

/* ---- the central caches ---- */

static bool is_central(struct finder *f, xc_addr addr, unsigned size_class)
{
	const uint8_t *bytes = xc_inside(addr, CENTRAL_SIZE, f->state->data_lo, f->state->data_hi)
				       ? xc_window(&f->far, addr, CENTRAL_SIZE)
				       : NULL;
	return bytes && word_of(bytes, 8) == size_class &&
	       half_of(bytes, USED_SLOTS) <= half_of(bytes, USED_SLOTS + 4) &&
	       half_of(bytes, USED_SLOTS + 4) <= half_of(bytes, USED_SLOTS + 8) &&
	       half_of(bytes, USED_SLOTS + 8) <= TC_SLOTS;
}

/* All of them, given one: the evidence is that each names its class. */
static bool take_central(struct finder *f, xc_addr addr, unsigned size_class)
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

/* The ring of a class's spans passes through its central cache, which lies among the variables. */
static bool central_by_ring(struct finder *f, unsigned size_class)
{
	xc_addr at = f->rings[size_class];
	for (size_t i = 0; at && i <= f->state->count; i++) {
		const uint8_t *bytes = at % 8 == 0 ? xc_window(&f->far, at, TC_SPAN) : NULL;
		if (xc_inside(at, 1, f->state->data_lo, f->state->data_hi))
			return (is_central(f, at - EMPTY, size_class) && take_central(f, at - EMPTY, size_class)) ||
			       (is_central(f, at - NONEMPTY, size_class) && take_central(f, at - NONEMPTY, size_class));
		at = bytes ? word_of(bytes, 16) : 0;
	}
	return false;
}

static void take_transfer_caches(struct finder *f)
{
	for (unsigned k = 1; k < f->state->class_count && !f->state->central; k++)
		central_by_ring(f, k);
	for (unsigned k = 1; k < f->state->class_count && f->state->central; k++) {
		xc_addr addr = f->state->central + k * f->state->central_step;
		const uint8_t *bytes = is_central(f, addr, k) ? xc_window(&f->far, addr, CENTRAL_SIZE) : NULL;
		uint32_t used = bytes ? half_of(bytes, USED_SLOTS) : 0;
		for (uint32_t i = 0; i < used; i++)
			/* How many are in a slot is not said there; the chain ends by itself. */
			add_list(f, &(struct tc_list){.head = word_of(bytes, SLOTS + 16 * i),
						      .tail = word_of(bytes, SLOTS + 16 * i + 8),
						      .count = TC_BATCH,
						      .size_class = (uint8_t)k});
	}
}

/* ---- all of it ---- */

/* The variables of the module that a symbol is of. */
static bool find_data(struct finder *f, const struct xc_module *module, xc_addr symbol)
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

/* Regions are runs of spans; pieces have about as many objects each. */
static void cut(struct finder *f)
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

static const char *find_all(struct finder *f, const struct xc_module *module, xc_addr thread_heaps, xc_addr count)
{
	if (!find_data(f, module, thread_heaps))
		return "tcmalloc's variables do not lie where its file says";
	const char *why = find_caches(f, thread_heaps, count);
	if (why)
		return why;
	take_caches(f);
	if (!f->witness_count)
		return "tcmalloc's page map cannot be found: no thread has anything in its cache";
	if (!find_pagemap(f))
		return "tcmalloc's page map was not found: its layout is not one of gperftools 2.7 to 2.15, or it is "
		       "damaged";
	find_spans(f);
	take_transfer_caches(f);
	return NULL;
}

bool tc_find(struct xc_heap *heap, struct tc_state *state, const char **why_out)
{
	struct finder f = {.heap = heap, .state = state};
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
	state->arena = (uint32_t)heap->arena_count; /* damages name it before it is added */
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
