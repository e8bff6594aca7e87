#include "core/live/live_renewal.h"

#include <string.h>

enum { IDLE = 8, NOTED = 64 /* pages of a round that are looked at */ };

/* The position of a page, or where it would be. */
static size_t find(const struct xc_live_reader_pages *r, xc_addr page)
{
	size_t at = 0;
	while (at < r->count && r->uses[at].page < page)
		at++;
	return at;
}

static void drop(struct xc_live_reader_pages *r, size_t at)
{
	memmove(&r->uses[at], &r->uses[at + 1], (--r->count - at) * sizeof *r->uses);
}

/* The page that was not used for the longest time makes room. */
static void drop_one(struct xc_live_reader_pages *r)
{
	size_t longest = 0;
	for (size_t i = 1; i < r->count; i++)
		longest = r->uses[i].idle > r->uses[longest].idle ? i : longest;
	drop(r, longest);
}

static void add(struct xc_live_reader_pages *r, xc_addr page)
{
	size_t at = find(r, page);
	if (at < r->count && r->uses[at].page == page) {
		r->uses[at].idle = 0;
		return;
	}
	if (r->count == XC_LIVE_RENEWED)
		drop_one(r);
	at = find(r, page);
	memmove(&r->uses[at + 1], &r->uses[at], (r->count++ - at) * sizeof *r->uses);
	r->uses[at] = (struct xc_live_page_use){.page = page};
}

/* What the round that ends has used. */
static void note(struct xc_live_reader_pages *r, const struct xc_live_cache *cache)
{
	for (size_t i = 0; i < r->count; i++)
		r->uses[i].idle++;
	for (uint32_t slot = 0; slot < cache->used && slot < NOTED; slot++) {
		xc_addr page;
		if (xc_live_cache_touched(cache, slot, &page))
			add(r, page);
	}
	for (size_t i = r->count; i-- > 0;)
		if (r->uses[i].idle > IDLE)
			drop(r, i);
}

/* Consecutive pages from the one at `at` on. */
static size_t run_of(const struct xc_live_reader_pages *r, size_t at, size_t page_size)
{
	size_t n = 1;
	while (at + n < r->count && r->uses[at + n].page == r->uses[at].page + n * page_size)
		n++;
	return n;
}

static size_t load(const struct xc_live_reader_pages *r, struct xc_live_cache *cache, struct xc_live_kernel *kernel)
{
	struct xc_live_batch batch = {.count = 0};
	uint64_t entries[XC_LIVE_RENEWED];
	uint32_t slots[XC_LIVE_RENEWED];
	for (size_t at = 0, n; at < r->count; at += n) {
		n = run_of(r, at, cache->page_size);
		const size_t known = xc_live_kernel_entries(kernel, r->uses[at].page, entries, n);
		for (size_t i = 0; i < known && batch.count < XC_LIVE_BATCH; i++) {
			if (!xc_live_kernel_may_read(kernel, entries[i]))
				continue;
			slots[batch.count] = xc_live_cache_take(cache);
			xc_live_batch_add(&batch, r->uses[at + i].page, xc_live_cache_bytes(cache, slots[batch.count]),
					  cache->page_size);
		}
	}
	const size_t got = batch.count ? xc_live_kernel_read(kernel, &batch) : 0;
	for (size_t i = 0; i < batch.count; i++) {
		if (i < got / cache->page_size)
			xc_live_cache_fill(cache, slots[i], batch.addrs[i], false);
		else
			xc_live_cache_release(cache, slots[i]);
	}
	return got;
}

size_t xc_live_renewal_begin(struct xc_live_renewal *renewal, uint64_t reader, struct xc_live_cache *cache,
			     struct xc_live_kernel *kernel)
{
	struct xc_live_reader_pages *r = &renewal->readers[reader % XC_LIVE_RENEWALS];
	if (renewal->current)
		note(renewal->current, cache);
	xc_live_cache_clear(cache);
	if (r->reader != reader)
		*r = (struct xc_live_reader_pages){.reader = reader};
	renewal->current = r;
	return load(r, cache, kernel);
}

void xc_live_renewal_end(struct xc_live_renewal *renewal)
{
	renewal->current = NULL;
}
