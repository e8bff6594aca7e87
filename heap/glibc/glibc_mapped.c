/* glibc_mapped: chunks with mappings of their own.
 *
 * They are on no list. Their header is at the start of a page (or later if memalign moved it; then prev_size has
 * the distance). It has only the M flag, and it gives the end of the mapping. In a core, neighbouring mappings look
 * like one. So every page of private anonymous memory outside the arenas is examined; after a chunk the search
 * continues at the chunk's end. */
#include <inttypes.h>
#include <stdlib.h>

#include "heap/glibc/glibc_impl.h"
#include "heap/blocks/scan.h"

enum { PAGE = 4096 };

static const uint64_t ALIGN_MAX = UINT64_C(1) << 40; /* a size that a program may request */

static bool get(struct xc_glibc *glibc, struct xc_window *window, xc_addr addr, uint64_t *value_out)
{
	return xc_glibc_word(glibc, window, addr, value_out);
}

/* Is there the header of a chunk whose mapping begins at lo and ends at or below hi? The chunk reaches to the end
 * of the mapping or, from 2.43 on, to its last two words. */
static bool is_mapped(struct xc_glibc *glibc, struct xc_window *window, xc_addr at, xc_addr lo, xc_addr hi)
{
	const unsigned word = glibc->layout.word, header = 2 * word;
	uint64_t before, head, size;
	if (at > hi || !get(glibc, window, at + word, &head) || (head & XC_GLIBC_FLAGS) != XC_GLIBC_MMAPPED)
		return false;
	size = xc_glibc_size(head);
	if (size < 2 * header || size - 1 > hi - at || !get(glibc, window, at, &before) ||
	    at - lo != (before & ~(uint64_t)1))
		return false;
	return ((at + size) % PAGE == 0 && !(before & 1)) || (at + size + header) % PAGE == 0;
}

/* The chunk of a mapping that begins at lo; 0 if it is none. If memalign moved the header to align the block to a
 * power of two, the first header is still there, unchanged. */
static xc_addr chunk_of(struct xc_glibc *glibc, struct xc_window *window, xc_addr lo, xc_addr hi)
{
	const unsigned header = 2 * glibc->layout.word;
	const xc_addr start = lo + XC_GLIBC_ALIGN - header; /* blocks are aligned */
	uint64_t first, align;
	if (!get(glibc, window, start + glibc->layout.word, &first) || (first & XC_GLIBC_FLAGS) != XC_GLIBC_MMAPPED ||
	    ((start + xc_glibc_size(first)) % PAGE != 0 && (start + xc_glibc_size(first) + header) % PAGE != 0))
		return 0;
	for (align = 2 * XC_GLIBC_ALIGN; align <= hi - lo && align <= ALIGN_MAX; align *= 2) {
		xc_addr chunk = ((start + header + align - 1) & ~(align - 1)) - header;
		if (is_mapped(glibc, window, chunk, lo, hi))
			return chunk;
		chunk += align; /* there was no room for a chunk in front of it */
		if (chunk - start < align + 2 * header && is_mapped(glibc, window, chunk, lo, hi))
			return chunk;
	}
	return is_mapped(glibc, window, start, lo, hi) ? start : 0;
}

/* Returns the end of the mapping. */
static xc_addr add(struct xc_glibc *glibc, xc_addr chunk, uint64_t head)
{
	const unsigned header = 2 * glibc->layout.word;
	uint64_t size = xc_glibc_size(head);
	bool whole = (chunk + size) % PAGE == 0;
	glibc->mapped = xc_grow(glibc->mapped, glibc->mapped_count, &glibc->mapped_capacity, sizeof *glibc->mapped);
	glibc->mapped[glibc->mapped_count++] = (struct xc_glibc_mapped){chunk, whole ? size : size + header,
									whole ? size - header : size - header / 2};
	return chunk + (whole ? size : size + header);
}

/* The next stored page. Reservations of terabytes, as sanitizers make them, are not stored. */
static xc_addr next_page(const struct xc_space *space, xc_addr page, xc_addr hi)
{
	xc_addr at = page + PAGE;
	if (at < page || at > hi || !xc_scan_stored(space, &at, hi, false))
		return hi;
	return at & ~(xc_addr)(PAGE - 1);
}

static void search(struct xc_glibc *glibc, struct xc_window *window, xc_addr lo, xc_addr hi)
{
	xc_addr page = (lo + PAGE - 1) & ~(xc_addr)(PAGE - 1);
	while (page >= lo && page <= hi && hi - page >= PAGE - 1) {
		uint64_t head;
		xc_addr chunk = chunk_of(glibc, window, page, hi);
		/* The content of a module's variables may look like one. */
		if (chunk && !xc_process_module(glibc->heap->process, chunk) &&
		    get(glibc, window, chunk + glibc->layout.word, &head))
			page = add(glibc, chunk, head);
		else
			page = next_page(window->space, page, hi);
	}
}

/* Examines the parts of a mapping outside all segments. */
static void search_around(struct xc_glibc *glibc, struct xc_window *window, xc_addr lo, xc_addr hi)
{
	for (size_t i = 0; i < glibc->segment_count; i++) {
		const struct xc_glibc_segment *s = &glibc->segments[i];
		if (s->hi < lo || s->lo > hi)
			continue;
		if (s->lo > lo)
			search(glibc, window, lo, s->lo - 1);
		if (s->hi >= hi)
			return;
		lo = s->hi + 1;
	}
	search(glibc, window, lo, hi);
}

static bool is_stack(const struct xc_process *process, const struct xc_mapping *m)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct xc_thread *thread = &process->threads[i];
		uint64_t sp;
		if (thread->has_regs && xc_regs_get(&thread->regs, process->arch->sp, &sp) && sp >= m->lo &&
		    sp <= m->hi)
			return true;
	}
	return false;
}

bool xc_glibc_may_be_heap(const struct xc_process *process, const struct xc_mapping *mapping)
{
	return mapping->writable && mapping->readable && !mapping->shared && !mapping->path &&
	       !is_stack(process, mapping);
}

/* ---- malloc's own count ---- */

/* mp_ (struct malloc_par) contains the address of the brk heap:
 *
 *  …  int n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold;  size_t mmapped_mem, max_mmapped_mem; char *sbrk_base; …
 *
 * From 2.35 on, four bytes of padding precede mmapped_mem if words have 8 bytes. */
static bool read_counts(const struct xc_window *window, xc_addr mapped_mem, uint32_t *count_out)
{
	uint32_t counts[4];
	for (unsigned before = sizeof counts; before <= sizeof counts + 4; before += 4)
		if (xc_space_peek(window->space, mapped_mem - before, counts, sizeof counts) == sizeof counts &&
		    counts[0] <= counts[2] && counts[2] <= counts[1]) {
			*count_out = counts[0];
			return true;
		}
	return false;
}

static bool is_mp(struct xc_glibc *glibc, struct xc_window *window, xc_addr at, xc_addr base, uint32_t *count_out,
		  uint64_t *given_back_out)
{
	const unsigned word = glibc->layout.word;
	uint64_t value, bytes, most;
	bool found = get(glibc, window, at, &value) && value == base && get(glibc, window, at - word, &most) &&
		     get(glibc, window, at - 2 * word, &bytes) && bytes <= most && most % PAGE == 0 &&
		     bytes % PAGE == 0 && read_counts(window, at - 2 * word, count_out);
	*given_back_out = found ? most - bytes : 0;
	return found;
}

/* The size of the largest block with its own mapping that was freed; 0: none is known. The first fields of mp_ are
 *
 *	size_t trim_threshold, top_pad, mmap_threshold, arena_test, arena_max;  …
 *
 * and until the program sets them, free() raises mmap_threshold to the size of such a block, and the other to twice
 * that. From 2.35 on, two words and four bytes follow arena_max. */
static uint64_t read_largest_freed(struct xc_glibc *glibc, struct xc_window *window, xc_addr sbrk_base)
{
	enum { DEFAULT = 128 << 10, COUNTS = 16 };
	const unsigned word = glibc->layout.word;
	const unsigned distances[] = {5 * word + COUNTS, 7 * word + COUNTS + (word == 8 ? 8 : 4)};
	for (size_t i = 0; i < XC_COUNT(distances); i++) {
		uint64_t mapped, trimmed;
		xc_addr at = sbrk_base - distances[i];
		if (get(glibc, window, at, &mapped) && get(glibc, window, at - 2 * word, &trimmed) &&
		    mapped > DEFAULT && mapped % PAGE == 0 && trimmed == 2 * mapped)
			return mapped;
	}
	return 0;
}

static bool read_mp(struct xc_glibc *glibc, struct xc_window *window, const struct xc_mapping *m, xc_addr base,
		    uint32_t *count_out, uint64_t *given_back_out)
{
	const unsigned word = glibc->layout.word;
	xc_addr lo = m->lo + 64;
	for (xc_addr end; xc_space_next_readable(window->space, &lo, m->hi, &end); lo = end + 1) {
		for (xc_addr at = (lo + word - 1) & ~(xc_addr)(word - 1); at >= lo && at <= end && m->hi - at >= word;
		     at += word)
			if (is_mp(glibc, window, at, base, count_out, given_back_out)) {
				glibc->heap->largest_unmapped = read_largest_freed(glibc, window, at);
				return true;
			}
		if (end == m->hi)
			break;
	}
	return false;
}

static const char *compare(struct xc_glibc *glibc, struct xc_window *window)
{
	const struct xc_process *process = glibc->heap->process;
	uint32_t count;
	for (size_t i = 0; i < glibc->segment_count; i++) {
		const struct xc_glibc_segment *s = &glibc->segments[i];
		const struct xc_glibc_arena *arena = &glibc->arenas[s->arena];
		const struct xc_mapping *m = arena->main ? xc_process_mapping(process, arena->addr) : NULL;
		if (m &&
		    read_mp(glibc, window, m, s->lo & ~(xc_addr)(XC_GLIBC_ALIGN - 1), &count, &glibc->heap->unmapped))
			return xc_arena_printf(&glibc->heap->memory,
					       "%zu by their headers, %u by malloc's own count (mp_)",
					       glibc->mapped_count, count);
	}
	return "by their headers; malloc's own count (mp_) was not found";
}

void xc_glibc_find_mapped(struct xc_glibc *glibc, struct xc_window *window)
{
	const struct xc_process *process = glibc->heap->process;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (xc_glibc_may_be_heap(process, m))
			search_around(glibc, window, m->lo, m->hi);
	}
	glibc->mapped_how = compare(glibc, window);
}
