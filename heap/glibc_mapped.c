/* glibc_mapped: chunks that are mappings of their own.
 *
 * They are on no list. Their header lies at the start of a page (behind it when memalign moved it, and prev_size says how far),
 * has only the M flag, and says where the mapping ends. Neighbouring mappings look like one in a core, so every page of
 * private anonymous memory that no arena has is looked at; behind a chunk the search goes on at its end. */
#include <stdlib.h>

#include "glibc_impl.h"

enum { PAGE = 4096 };

static bool get(struct xc_glibc *glibc, struct xc_window *window, xc_addr addr, uint64_t *value_out)
{
	return xc_glibc_word(glibc, window, addr, value_out);
}

/* Is there the header of a mapped chunk? Then its mapping begins at or above lo and ends at or below hi. */
static bool is_mapped(struct xc_glibc *glibc, struct xc_window *window, xc_addr at, xc_addr lo, xc_addr hi)
{
	uint64_t before, head, size;
	if (!get(glibc, window, at + glibc->layout.word, &head) || (head & XC_GLIBC_FLAGS) != XC_GLIBC_MMAPPED)
		return false;
	size = xc_glibc_size(head);
	return size >= 4 * glibc->layout.word && size - 1 <= hi - at && (at + size) % PAGE == 0 &&
	       get(glibc, window, at, &before) && before <= at - lo && (at - before) % PAGE == 0 &&
	       size + before >= PAGE;
}

/* The header of a mapped chunk in this page: at its start, or where memalign puts it so that the block lies at a power of two. */
static xc_addr header_in(struct xc_glibc *glibc, struct xc_window *window, xc_addr page, xc_addr lo, xc_addr hi)
{
	const unsigned header = 2 * glibc->layout.word;
	if (is_mapped(glibc, window, page, lo, hi))
		return page;
	for (unsigned align = XC_GLIBC_ALIGN; align <= PAGE; align *= 2)
		if (align > header && is_mapped(glibc, window, page + align - header, lo, hi))
			return page + align - header;
	return 0;
}

static void add(struct xc_glibc *glibc, xc_addr chunk, uint64_t size)
{
	glibc->mapped = xc_grow(glibc->mapped, glibc->mapped_count, &glibc->mapped_capacity, sizeof *glibc->mapped);
	glibc->mapped[glibc->mapped_count++] = (struct xc_glibc_mapped){chunk, size};
}

static void search(struct xc_glibc *glibc, struct xc_window *window, xc_addr lo, xc_addr hi)
{
	xc_addr free_from = (lo + PAGE - 1) & ~(xc_addr)(PAGE - 1), page = free_from;
	while (page >= free_from && page <= hi && hi - page >= PAGE - 1) {
		uint64_t head;
		xc_addr chunk = header_in(glibc, window, page, free_from, hi);
		if (chunk && get(glibc, window, chunk + glibc->layout.word, &head)) {
			add(glibc, chunk, xc_glibc_size(head));
			page = free_from = chunk + xc_glibc_size(head);
		} else {
			page += PAGE;
		}
	}
}

/* What of a mapping no segment has. */
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

void xc_glibc_find_mapped(struct xc_glibc *glibc, struct xc_window *window)
{
	const struct xc_process *process = glibc->heap->process;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (m->writable && m->readable && !m->shared && !m->path && !is_stack(process, m))
			search_around(glibc, window, m->lo, m->hi);
	}
}
