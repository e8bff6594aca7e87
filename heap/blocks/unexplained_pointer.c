/* The words are looked up like those of roots (roots.c). The module's own writable mappings are searched, up to the
 * first match. */
#include "heap/blocks/unexplained_pointer.h"

#include <stdlib.h>

#include "heap/blocks/scan.h"

enum {
	PIECE = 4 << 20,
	MOST_SHIFTED = 1 << 20, /* bytes that are also searched for pointers that are not aligned */
};

void xc_extents_add(struct xc_extents *extents, xc_addr addr, uint64_t size)
{
	if (!size || size - 1 > UINT64_MAX - addr)
		return;
	extents->items = xc_grow(extents->items, extents->count, &extents->capacity, sizeof *extents->items);
	extents->items[extents->count++] = (struct xc_extent){addr, addr + (size - 1)};
}

void xc_extents_fini(struct xc_extents *extents)
{
	free(extents->items);
	*extents = (struct xc_extents){0};
}

static int by_address(const void *a, const void *b)
{
	const struct xc_extent *x = a, *y = b;
	return x->lo != y->lo ? (x->lo < y->lo ? -1 : 1) : x->hi < y->hi ? -1 : x->hi > y->hi;
}

/* Sorts by address, and merges those that overlap. */
static void merge(struct xc_extents *extents)
{
	size_t kept = 0;
	if (extents->count)
		qsort(extents->items, extents->count, sizeof *extents->items, by_address);
	for (size_t i = 0; i < extents->count; i++) {
		const struct xc_extent *next = &extents->items[i];
		struct xc_extent *last = kept ? &extents->items[kept - 1] : NULL;
		if (!last || next->lo > last->hi)
			extents->items[kept++] = *next;
		else if (next->hi > last->hi)
			last->hi = next->hi;
	}
	extents->count = kept;
}

static bool holds(const struct xc_extents *extents, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(extents->count, i, extents->items[i].hi < addr);
	return lo < extents->count && extents->items[lo].lo <= addr;
}

static bool any_outside(struct xc_scan *scan, xc_addr base, const struct xc_extents *extents)
{
	bool any = false;
	scan->resolve(scan);
	for (size_t i = 0; i < scan->count && !any; i++)
		any = scan->hits[i] != XC_NO_BLOCK && !holds(extents, base + (uint64_t)scan->tags[i] * scan->word);
	scan->count = 0;
	return any;
}

static bool any_in_words(struct xc_scan *scan, const uint8_t *bytes, xc_addr at, size_t words,
			 const struct xc_extents *extents)
{
	bool any = false;
	for (size_t done = 0; done < words && !any;) {
		done += xc_scan_collect(scan, bytes + done * scan->word, words - done, (uint32_t)done, 1);
		any = any_outside(scan, at, extents);
	}
	return any;
}

/* Pointers of packed structs are at any address. */
static bool any_in_bytes(struct xc_scan *scan, const uint8_t *bytes, xc_addr at, uint64_t len,
			 const struct xc_extents *extents)
{
	uint64_t skip = (scan->word - at % scan->word) % scan->word;
	bool any = false;
	for (unsigned shift = 0; shift < (len > MOST_SHIFTED ? 1 : scan->word) && !any; shift++, skip++)
		any = len > skip &&
		      any_in_words(scan, bytes + skip, at + skip, (size_t)((len - skip) / scan->word), extents);
	return any;
}

static bool any_in_range(const struct xc_heap *heap, xc_addr at, xc_addr hi, const struct xc_extents *extents)
{
	struct xc_window window;
	struct xc_scan scan;
	const uint8_t *bytes;
	uint64_t len;
	bool any = false;
	xc_window_init(&window, heap->process->space);
	xc_scan_init(&scan, heap);
	while (!any && xc_scan_next(&window, &at, hi, PIECE, true, &bytes, &len)) {
		any = any_in_bytes(&scan, bytes, at, len, extents);
		if (hi - at < len)
			break;
		at += len;
	}
	xc_window_fini(&window);
	return any;
}

bool xc_unexplained_pointer_exists(const struct xc_heap *heap, const struct xc_module *module,
				   struct xc_extents *extents)
{
	const struct xc_process *process = heap->process;
	merge(extents);
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		xc_addr lo = m->lo > module->lo ? m->lo : module->lo, hi = m->hi < module->hi ? m->hi : module->hi;
		if (m->writable && lo <= hi && any_in_range(heap, lo, hi, extents))
			return true;
	}
	return false;
}
