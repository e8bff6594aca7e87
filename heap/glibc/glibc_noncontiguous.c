/* glibc_noncontiguous: the memory of a main arena that is not contiguous.
 *
 * If the break cannot be moved (another mapping is in the way; a second libc of dlmopen has no break at all), the
 * main arena takes mappings of a megabyte or more. Nothing links them. Each begins at a page with a chunk whose P
 * bit is set, and ends in fenceposts or in the top chunk. So they are found by chains of chunks that begin at a
 * page. */
#include "heap/glibc/glibc_impl.h"

enum {
	PAGE = 4096,
	PROOF = 16,           /* chunks in a row */
	MOST_PAGES = 1 << 24, /* pages examined in all: a sanitizer maps terabytes of shadow memory */
};

/* The last byte of the chain from segment->lo, which ends at the top chunk, or at fenceposts with no chunk after
 * them. Damage before that is skipped. */
static xc_addr end_of_chain(const struct xc_glibc_segment *segment, struct xc_window *window)
{
	struct xc_glibc_chunk chunk;
	bool fenced = false;
	xc_addr at = segment->lo;
	while (at <= segment->hi && xc_glibc_chunk(segment->glibc, window, at, &chunk)) {
		uint64_t size = xc_glibc_size(chunk.head), fence = 0;
		bool right = !xc_glibc_broken(segment, at, chunk.head);
		if (right && at == segment->top)
			return at + size - 1;
		if (!right && (fence = xc_glibc_fence(segment, window, at, chunk.head)) == 0) {
			xc_addr next = fenced ? 0 : xc_glibc_guess(segment, window, at + 1, segment->hi, PROOF);
			if (!next)
				return at - 1;
			size = next - at;
		}
		fenced = fence != 0;
		at += fenced ? fence : size;
	}
	return at - 1;
}

static bool begins(const struct xc_glibc_segment *segment, struct xc_window *window)
{
	struct xc_glibc_chunk chunk;
	return xc_glibc_chunk(segment->glibc, window, segment->lo, &chunk) &&
	       (chunk.head & XC_GLIBC_FLAGS) == XC_GLIBC_PREV_INUSE &&
	       xc_glibc_run(segment, window, segment->lo, PROOF) == PROOF;
}

/* The first readable page from here on; 0 if there is none. */
static xc_addr next_stored(const struct xc_space *space, xc_addr page)
{
	for (size_t i = xc_space_lower_bound(space, page); i < xc_space_count(space); i++) {
		const struct xc_segment *segment = xc_space_at(space, i);
		xc_addr first = (segment->lo + PAGE - 1) & ~(xc_addr)(PAGE - 1);
		if (segment->provenance < XC_NOT_DUMPED && first <= segment->hi)
			return first > page ? first : page;
	}
	return 0;
}

/* Adds all pieces in a range that belong to no other segment. */
static void search(struct xc_glibc *glibc, struct xc_window *window, size_t arena, xc_addr lo, xc_addr hi)
{
	const struct xc_space *space = glibc->heap->process->space;
	xc_addr top = glibc->arenas[arena].top, page = next_stored(space, (lo + PAGE - 1) & ~(xc_addr)(PAGE - 1));
	for (unsigned pages = 0; pages < MOST_PAGES && page >= lo && page <= hi && hi - page >= PAGE - 1; pages++) {
		struct xc_glibc_segment segment = {
			.glibc = glibc, .lo = page, .hi = hi, .top = top, .arena = (uint32_t)arena};
		xc_addr next = page + PAGE;
		if (begins(&segment, window)) {
			xc_addr end = end_of_chain(&segment, window);
			xc_glibc_add_segment(glibc, arena, page, end, "part of the main arena");
			next = (end + PAGE) & ~(xc_addr)(PAGE - 1);
		}
		page = next_stored(space, next);
	}
}

static bool is_taken(const struct xc_glibc *glibc, const struct xc_mapping *m)
{
	for (size_t i = 0; i < glibc->segment_count; i++)
		if (glibc->segments[i].lo <= m->hi && glibc->segments[i].hi >= m->lo)
			return true;
	return false;
}

void xc_glibc_find_noncontiguous(struct xc_glibc *glibc, struct xc_window *window, size_t arena)
{
	const struct xc_process *process = glibc->heap->process;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (xc_glibc_may_be_heap(process, m) && !is_taken(glibc, m))
			search(glibc, window, arena, m->lo, m->hi);
	}
}
