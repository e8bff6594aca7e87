/* Finds mimalloc's pages. Layouts of mimalloc 2.0.9 without encoded free lists (include/mimalloc-types.h):
 *
 *	segment      at multiples of 32 MiB, of slices of 64 KiB; the first ones hold what follows
 *	             … | cookie | segment_slices | info_slices | kind | slice_entries | thread_id | page[513]
 *	page (80)    slice_count:32 slice_offset:32 | … capacity:16 reserved:16 in_full:1 has_aligned:1 … | free
 *	             | used:32 block_size:32 | local_free | thread_free, flags:2 | heap | next | prev | pad
 *	heap         tld | pages … | queues … | thread_delayed_free | thread_id | …
 *
 * Libraries have symbols only for functions, so segments are searched at every multiple of 32 MiB. The cookie
 * proves a segment: it is the segment's address xor a random number in the variables of mimalloc's module, in the
 * main heap. Pages name their heaps, and heaps the thread of their segments, which shows the place of a heap's list
 * of delayed blocks. A page is described by the array element at the index of its first slice; block_size 0 means
 * free slices. The offset of the first block in its slices follows from any free block and the number of blocks. */
#include "heap/allocators/mimalloc_impl.h"

#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/symbol.h"
#include "heap/blocks/scan.h"

enum {
	SEGMENT_ALIGN = 32 << 20,
	SLICE = 64 << 10,
	MAX_COOKIE_AT = 512, /* bytes of a segment before its cookie */
	INFO_WORDS = 6,      /* from the cookie up to the pages */
	PAGE_SIZE = 80,
	MAX_ENTRIES = 513,
	MAX_INFO = 64,
	HUGE_SIZE = 1U << 31, /* block_size of blocks of that size or larger */
	HEAP_BYTES = 8192,    /* bytes of a heap that are searched */
	SIZES = 128,          /* different block sizes: 74 bins, and some huge ones */
	PIECE_BLOCKS = 1 << 16,
	COOKIES = 256, /* numbers searched in the module's data */
};

struct segment {
	xc_addr addr;
	uint64_t cookie_at, slices, info, entries, thread;
};

/* The offset of the first block, for pages of one block size. */
struct start {
	uint64_t size, offset;
};

struct finder {
	struct xc_heap *heap;
	struct mi_state *state;
	const struct xc_module *module;
	struct xc_window window;
	size_t segment_count, heap_count, heap_right;
	struct xc_region *regions; /* and damage: added to the heap if most pages are intact */
	size_t region_count, region_capacity;
	struct xc_damage *damages;
	size_t damage_count, damage_capacity;
	uint64_t cookie_at; /* 0: not yet known */
	unsigned cookies;   /* numbers searched so far */
	struct start starts[SIZES];
	size_t start_count;
	struct {
		xc_addr heap;
		uint64_t thread;
	} * heaps;
	size_t heap_seen, heap_capacity;
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

static uint16_t short_of(const uint8_t *bytes, size_t offset)
{
	uint16_t number;
	memcpy(&number, bytes + offset, sizeof number);
	return number;
}

/* ---- segments ---- */

/* Is this number in the variables of mimalloc's module? */
static bool in_data(struct finder *f, uint64_t number)
{
	const struct xc_process *process = f->heap->process;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		xc_addr at = m->lo > f->module->lo ? m->lo : f->module->lo;
		xc_addr hi = m->hi < f->module->hi ? m->hi : f->module->hi;
		while (m->writable && at < hi) {
			uint64_t len;
			const uint8_t *bytes = xc_window_run(&f->window, at, hi - at + 1, &len);
			for (uint64_t k = 0; bytes && k + 8 <= len; k += 8)
				if (word_of(bytes, k) == number)
					return true;
			at += bytes && len >= 8 ? len & ~UINT64_C(7) : 4096;
		}
	}
	return false;
}

/* A segment with the cookie at this offset, by the following words; not yet proved. */
static bool looks_right(xc_addr addr, const uint8_t *bytes, uint64_t cookie_at, struct segment *out)
{
	*out = (struct segment){.addr = addr,
				.cookie_at = cookie_at,
				.slices = word_of(bytes, cookie_at + 8),
				.info = word_of(bytes, cookie_at + 16),
				.entries = word_of(bytes, cookie_at + 32),
				.thread = word_of(bytes, cookie_at + 40)};
	const uint8_t *pages = bytes + cookie_at + 8 * INFO_WORDS;
	return out->slices > 0 && out->slices < UINT64_C(1) << 32 && out->info > 0 && out->info <= MAX_INFO &&
	       out->info <= out->slices && half_of(bytes, cookie_at + 24) <= 1 && out->entries > 0 &&
	       out->entries <= MAX_ENTRIES && half_of(pages, 0) == out->info && half_of(pages, 4) == 0;
}

/* The cookie of segments is learned from the first one whose number is in the module's data. */
static bool is_segment(struct finder *f, xc_addr addr, struct segment *out)
{
	const uint64_t need = MAX_COOKIE_AT + 8 * (INFO_WORDS + 1);
	uint8_t bytes[MAX_COOKIE_AT + 8 * (INFO_WORDS + 1)];
	const uint8_t *shown = xc_window(&f->window, addr, need);
	if (!shown)
		return false;
	memcpy(bytes, shown, need); /* in_data moves the window */
	if (f->cookie_at)
		return (word_of(bytes, f->cookie_at) ^ addr) == f->state->cookie &&
		       looks_right(addr, bytes, f->cookie_at, out);
	for (uint64_t at = 8; at <= MAX_COOKIE_AT; at += 8) {
		uint64_t cookie = word_of(bytes, at) ^ addr;
		if (!looks_right(addr, bytes, at, out) || f->cookies++ >= COOKIES || !in_data(f, cookie))
			continue;
		f->cookie_at = at;
		f->state->cookie = cookie;
		return true;
	}
	return false;
}

/* ---- pages ---- */

static void damaged_page(struct finder *f, xc_addr addr, xc_addr lo, uint64_t bytes, const char *what,
			 const char *found)
{
	f->damages = xc_grow(f->damages, f->damage_count, &f->damage_capacity, sizeof *f->damages);
	f->damages[f->damage_count++] = (struct xc_damage){.addr = addr,
							   .what = what,
							   .found = found,
							   .lost_lo = lo,
							   .lost_hi = lo + bytes - 1,
							   .arena = f->state->arena,
							   .before = XC_NO_BLOCK};
}

static struct start *start_of(struct finder *f, uint64_t size)
{
	for (size_t i = 0; i < f->start_count; i++)
		if (f->starts[i].size == size)
			return &f->starts[i];
	return NULL;
}

/* The place of the first block: `reserved` blocks follow, as many as fit, and free blocks are at whole multiples
 * from it. At most one place satisfies both. */
static bool place_by_free(struct mi_page *page, xc_addr base, uint64_t bytes)
{
	if (bytes < page->reserved * page->size)
		return false;
	uint64_t most = bytes - page->reserved * page->size;
	for (unsigned i = 0; i < XC_COUNT(page->free); i++) {
		if (page->free[i] - base >= bytes)
			continue;
		uint64_t rest = (page->free[i] - base) % page->size;
		uint64_t offset = most >= rest ? most - (most - rest) % page->size : UINT64_MAX;
		if (offset >= page->size + 4096 || most - offset >= page->size)
			continue;
		page->lo = base + offset;
		return true;
	}
	return false;
}

/* A page without free blocks: as in other pages of its block size, or by the rule of mimalloc 2.0.9. */
static void place_by_size(const struct finder *f, struct mi_page *page, xc_addr base, uint64_t bytes)
{
	uint64_t offset = page->size <= 1024 ? 384 : 0;
	for (size_t i = 0; i < f->start_count; i++)
		if (f->starts[i].size == page->size)
			offset = f->starts[i].offset;
	if (bytes < offset || (bytes - offset) / page->size < page->reserved)
		offset = 0;
	page->lo = base + offset;
}

static void add_page(struct finder *f, const struct mi_page *page)
{
	struct mi_state *state = f->state;
	state->pages = xc_grow(state->pages, state->count, &state->capacity, sizeof *state->pages);
	state->pages[state->count++] = *page;
}

static void add_heap(struct finder *f, xc_addr heap, uint64_t thread)
{
	if (!heap || heap % 8 || (f->heap_seen && f->heaps[f->heap_seen - 1].heap == heap))
		return;
	f->heaps = xc_grow(f->heaps, f->heap_seen, &f->heap_capacity, sizeof *f->heaps);
	f->heaps[f->heap_seen].heap = heap;
	f->heaps[f->heap_seen++].thread = thread;
}

/* A page of blocks, in slices at base. */
static void take_page(struct finder *f, xc_addr addr, const uint8_t *bytes, xc_addr base, uint64_t size)
{
	struct mi_page page = {.page = addr,
			       .size = half_of(bytes, 28) < HUGE_SIZE ? half_of(bytes, 28) : size,
			       .used = half_of(bytes, 24),
			       .capacity = short_of(bytes, 10),
			       .reserved = short_of(bytes, 12),
			       .aligned = bytes[14] >> 1 & 1,
			       .free = {word_of(bytes, MI_PAGE_FREE), word_of(bytes, MI_PAGE_LOCAL_FREE),
					word_of(bytes, MI_PAGE_THREAD_FREE) & ~UINT64_C(3)}};
	if (page.size % 8 || page.size > size || !page.reserved || page.capacity > page.reserved ||
	    page.used > page.capacity || page.size * page.reserved > size) {
		damaged_page(f, addr, base, size, "page of blocks that do not fit it",
			     xc_arena_printf(&f->heap->memory, "%u of %u blocks of %llu bytes, %u used, in %llu bytes",
					     page.capacity, page.reserved, (unsigned long long)page.size, page.used,
					     (unsigned long long)size));
		return;
	}
	struct start *start = start_of(f, page.size);
	if (!place_by_free(&page, base, size))
		page.lo = 0; /* later, when the evidence about its size is complete */
	else if (!start && f->start_count < SIZES)
		f->starts[f->start_count++] = (struct start){page.size, page.lo - base};
	else if (start && start->offset != page.lo - base)
		page.lo = base + start->offset; /* a link that was overwritten */
	add_page(f, &page);
}

static void take_slices(struct finder *f, const struct segment *segment, const uint8_t *pages)
{
	xc_addr at = segment->addr + segment->cookie_at + 8 * INFO_WORDS;
	size_t first = f->state->count;
	for (uint64_t i = segment->info; i < segment->entries;) {
		const uint8_t *bytes = pages + i * PAGE_SIZE;
		xc_addr base = segment->addr + i * SLICE;
		uint64_t count = half_of(bytes, 0);
		if (count == 0 || count > segment->slices - i || half_of(bytes, 4)) {
			damaged_page(f, at + i * PAGE_SIZE, base, SLICE, "page that should begin here does not", NULL);
			i++;
			continue;
		}
		if (half_of(bytes, 28)) {
			take_page(f, at + i * PAGE_SIZE, bytes, base, count * SLICE);
			add_heap(f, word_of(bytes, 48), segment->thread);
		} else {
			add_page(f, &(struct mi_page){.page = at + i * PAGE_SIZE, .lo = base, .size = count * SLICE});
		}
		i += count;
	}
	for (size_t i = first; i < f->state->count; i++) {
		struct mi_page *page = &f->state->pages[i];
		uint64_t index = (page->page - at) / PAGE_SIZE;
		if (!page->lo)
			place_by_size(f, page, segment->addr + index * SLICE,
				      half_of(pages, index * PAGE_SIZE) * (uint64_t)SLICE);
	}
}

static void take_segment(struct finder *f, const struct segment *segment)
{
	uint64_t size = segment->entries * PAGE_SIZE;
	xc_addr end = segment->addr + segment->slices * SLICE - 1;
	const struct xc_mapping *last = xc_process_mapping(f->heap->process, end);
	const uint8_t *shown = xc_window(&f->window, segment->addr + segment->cookie_at + 8 * INFO_WORDS, size);
	uint8_t pages[MAX_ENTRIES * PAGE_SIZE];
	if (!shown || !last) /* slices returned to the system stay mapped, without access */
		return;
	memcpy(pages, shown, size);
	f->segment_count++;
	take_slices(f, segment, pages);
	f->regions = xc_grow(f->regions, f->region_count, &f->region_capacity, sizeof *f->regions);
	f->regions[f->region_count++] =
		(struct xc_region){.lo = segment->addr,
				   .hi = end,
				   .arena = f->state->arena,
				   .what = segment->slices > MAX_ENTRIES ? "huge segment" : "segment"};
}

static void find_segments(struct finder *f)
{
	const struct xc_process *process = f->heap->process;
	xc_addr next = 0; /* end of the last segment */
	struct segment segment;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (!m->writable || !m->readable || m->shared)
			continue;
		for (xc_addr stored = m->lo; xc_scan_stored(process->space, &stored, m->hi, false);) {
			xc_addr at = (stored + SEGMENT_ALIGN - 1) & -(xc_addr)SEGMENT_ALIGN;
			if (at < stored || at >= m->hi)
				break;
			stored = at + 1;
			if (at < next || !is_segment(f, at, &segment))
				continue;
			take_segment(f, &segment);
			next = at + segment.slices * SLICE;
		}
	}
}

/* ---- heaps ---- */

static int by_heap(const void *a, const void *b)
{
	uint64_t x = word_of(a, 0), y = word_of(b, 0);
	return x < y ? -1 : x > y;
}

static void unique_heaps(struct finder *f)
{
	size_t kept = 0;
	if (f->heap_seen)
		qsort(f->heaps, f->heap_seen, sizeof *f->heaps, by_heap);
	for (size_t i = 0; i < f->heap_seen; i++)
		if (!kept || f->heaps[kept - 1].heap != f->heaps[i].heap)
			f->heaps[kept++] = f->heaps[i];
	f->heap_count = kept;
}

/* The number of heaps that name their thread at this offset. */
static size_t heaps_right(struct finder *f, uint64_t offset)
{
	size_t right = 0;
	uint64_t thread;
	for (size_t i = 0; i < f->heap_count; i++)
		right += xc_window_word(&f->window, f->heaps[i].heap + offset, &thread) && thread == f->heaps[i].thread;
	return right;
}

/* The list of delayed blocks is before the thread's number. */
static void find_delayed(struct finder *f)
{
	uint64_t best_at = 0, first;
	unique_heaps(f);
	for (uint64_t at = 8; at < HEAP_BYTES && f->heap_right < f->heap_count; at += 8) {
		size_t right = heaps_right(f, at);
		if (right > f->heap_right) {
			f->heap_right = right;
			best_at = at;
		}
	}
	if (2 * f->heap_right <= f->heap_count)
		return;
	struct mi_state *state = f->state;
	for (size_t i = 0; i < f->heap_count; i++) {
		if (!xc_window_word(&f->window, f->heaps[i].heap + best_at - 8, &first) || !first)
			continue;
		state->delayed =
			xc_grow(state->delayed, state->delayed_count, &state->delayed_capacity, sizeof *state->delayed);
		state->delayed[state->delayed_count++] = first;
	}
}

/* ---- all parts ---- */

static int by_address(const void *a, const void *b)
{
	const struct mi_page *x = a, *y = b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void cut(struct mi_state *state)
{
	size_t blocks = PIECE_BLOCKS;
	if (state->count)
		qsort(state->pages, state->count, sizeof *state->pages, by_address);
	state->pieces = xc_alloc((state->count + 1) * sizeof *state->pieces);
	for (size_t i = 0; i < state->count; i++) {
		if (blocks >= PIECE_BLOCKS)
			state->pieces[state->piece_count++] = i, blocks = 0;
		blocks += state->pages[i].capacity + 1U;
	}
	state->pieces[state->piece_count] = state->count;
}

static void publish(struct finder *f)
{
	struct xc_heap *heap = f->heap;
	char *evidence =
		xc_asprintf("symbol mi_malloc; %zu segments by a cookie that %s has; %zu of %zu pages fit their "
			    "slices; %zu of %zu heaps name the thread of their segments",
			    f->segment_count, f->module->name, f->state->count, f->state->count + f->damage_count,
			    f->heap_right, f->heap_count);
	xc_heap_add_arena(heap, &(struct xc_heap_arena){
					.allocator = &xc_allocator_mimalloc, .name = "mimalloc", .evidence = evidence});
	free(evidence);
	for (size_t i = 0; i < f->region_count; i++)
		xc_heap_add_region(heap, &f->regions[i]);
	for (size_t i = 0; i < f->damage_count; i++)
		xc_heap_add_damage(heap, &f->damages[i]);
}

static const char *find_all(struct finder *f)
{
	const struct xc_arch *arch = f->heap->process->arch;
	if (arch->word != 8 || arch->big_endian)
		return "mimalloc is read only where words are 8 bytes, little-endian";
	find_segments(f);
	if (!f->segment_count)
		return "mimalloc is loaded, but no segment with the layout of mimalloc 2.0 was found";
	if (f->damage_count > f->state->count)
		return "mimalloc's pages do not have the layout of mimalloc 2.0 (without encoded lists), or most are "
		       "damaged";
	find_delayed(f);
	cut(f->state);
	publish(f);
	return NULL;
}

bool mi_find(struct xc_heap *heap, struct mi_state *state, const char **why_out)
{
	struct finder f = {.heap = heap, .state = state};
	struct xc_module *module = NULL;
	if (!xc_symbol_find(heap->process, "mi_malloc", &module, NULL) || !module)
		return false;
	f.module = module;
	xc_window_init(&f.window, heap->process->space);
	state->arena = (uint32_t)heap->arena_count; /* named before it is added */
	const char *why = find_all(&f);
	if (why)
		*why_out = why;
	free(f.heaps);
	free(f.regions);
	free(f.damages);
	xc_window_fini(&f.window);
	return !why;
}
