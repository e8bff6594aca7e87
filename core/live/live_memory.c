/* live_memory: pages of a running process, through a cache of fixed size.
 *
 *   read ─→ frozen or cached? ──yes─────────────────────────────→ copy
 *              │ no
 *           slept enough? (live_throttle)
 *           pagemap: which of the next pages are present?
 *              │ present            │ swapped            │ in no page table
 *           one process_vm_readv    fault, unless        live_absent: zero page, mapped
 *           for all of them         --swap was given     file, or a fault
 *
 * Reading ahead: a miss loads 4 pages; a miss where the last load ended, or just below where it
 * began, doubles that up to 64, in that direction. One lock covers all; a
 * hit costs a lock, a hash and a copy. */
#include "core/live/live_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/live/live_cache.h"
#include "core/live/live_frozen.h"
#include "core/live/live_kernel.h"
#include "core/live/live_renewal.h"
#include "core/live/live_throttle.h"

#ifdef XC_HOSTILE
enum { CACHE_BYTES = 64 << 10 };
#else
/* Untouched cache memory costs nothing. A random walk over more than this reads a window for each step. */
enum { CACHE_BYTES = 256 << 20 };
#endif
enum { MIN_WINDOW = 4, MAX_WINDOW = XC_LIVE_BATCH };

struct xc_live_memory {
	pthread_mutex_t lock; /* covers everything below */
	struct xc_live_kernel kernel;
	size_t page_size;
	struct xc_live_cache cache;
	struct xc_live_renewal renewal;
	struct xc_live_frozen frozen;
	struct xc_live_window shown;
	struct xc_live_throttle pace;
	uint64_t unpaid;         /* bytes read since the throttle was last charged */
	xc_addr first, expected; /* where the last load began, and ended */
	size_t window;
	struct xc_live_stats *stats; /* mapped, shared with forked children */
	struct xc_live_absents absents;
	bool brief; /* pages are read one by one, without pauses */
};

struct xc_live_memory *xc_live_memory_new(const struct xc_live_handles *handles)
{
	struct xc_live_memory *m = xc_alloc(sizeof *m);
	pthread_mutex_init(&m->lock, NULL);
	m->page_size = (size_t)sysconf(_SC_PAGESIZE);
	xc_live_cache_init(&m->cache, m->page_size, CACHE_BYTES);
	xc_live_throttle_init(&m->pace, handles->max_read_rate, UINT64_C(1000000) * handles->max_read_time);
	if (handles->throttled)
		xc_live_throttle_begin(&m->pace);
	m->stats = xc_live_kernel_stats();
	m->kernel = (struct xc_live_kernel){.handles = *handles, .page_size = m->page_size, .stats = m->stats};
	m->absents = (struct xc_live_absents){.maps = handles->maps, .smaps = handles->smaps, .root = handles->root};
	return m;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void xc_live_memory_free(struct xc_live_memory *m)
{
	if (!m)
		return;
	xc_live_absents_fini(&m->absents);
	xc_live_cache_fini(&m->cache);
	xc_live_frozen_clear(&m->frozen);
	xc_live_window_fini(&m->shown);
	close_if_open(m->kernel.handles.mem);
	close_if_open(m->kernel.handles.maps);
	close_if_open(m->kernel.handles.pagemap);
	close_if_open(m->kernel.handles.smaps);
	close_if_open(m->kernel.handles.root);
	pthread_mutex_destroy(&m->lock);
	munmap(m->stats, sizeof *m->stats);
	free(m);
}

struct xc_live_region *xc_live_memory_regions(struct xc_live_memory *m, size_t count)
{
	struct xc_live_region *regions = xc_alloc(count * sizeof *regions);
	for (size_t i = 0; i < count; i++)
		regions[i].memory = m;
	return regions;
}

void xc_live_memory_use(struct xc_live_memory *m, struct xc_live_region *regions, size_t count)
{
	free(m->absents.regions);
	m->absents.regions = regions;
	m->absents.count = count;
	m->absents.flags_read = false;
}

struct xc_live_absents *xc_live_memory_absents(struct xc_live_memory *m)
{
	return &m->absents;
}

/* ---- loading ---- */

static size_t read_batch(struct xc_live_memory *m, const struct xc_live_batch *b)
{
	size_t got = xc_live_kernel_read(&m->kernel, b);
	m->unpaid += got;
	return got;
}

/* Choose the pages to load around the requested one. Returns the first. Walks go up or down: programs add to lists at
 * their heads. */
static xc_addr choose_window(struct xc_live_memory *m, const struct xc_live_region *r, xc_addr page, size_t wanted,
			     size_t *count_out)
{
	size_t above = (size_t)((r->hi - page) / m->page_size) + 1, below = (size_t)((page - r->lo) / m->page_size);
	bool down = wanted == 1 && page + m->page_size == m->first;
	m->window = m->window && (down || page == m->expected) ? m->window * 2 : m->brief ? 1 : MIN_WINDOW;
	if (m->window < wanted)
		m->window = wanted;
	if (m->window > MAX_WINDOW)
		m->window = MAX_WINDOW;
	size_t back = !down ? 0 : m->window - 1 < below ? m->window - 1 : below;
	size_t limit = down ? back + 1 : above;
	*count_out = m->window < limit ? m->window : limit;
	return page - back * m->page_size;
}

/* Collect the readable pages among `count` from first on, up to the first one after `page` that is cached. */
static void collect(struct xc_live_memory *m, struct xc_live_batch *b, uint32_t *slots, xc_addr page, xc_addr first,
		    const uint64_t *entries, size_t count)
{
	m->first = first;
	m->expected = first + count * m->page_size;
	for (size_t i = 0; i < count; i++) {
		xc_addr at = first + i * m->page_size;
		bool cached = xc_live_cache_find(&m->cache, at) != XC_NO_SLOT;
		if (cached && at > page) {
			m->expected = at;
			return;
		}
		if (cached || !xc_live_kernel_may_read(&m->kernel, entries[i]))
			continue;
		slots[b->count] = xc_live_cache_take(&m->cache);
		xc_live_batch_add(b, at, xc_live_cache_bytes(&m->cache, slots[b->count]), m->page_size);
	}
}

/* True when `page` was read. */
static bool load_present(struct xc_live_memory *m, xc_addr page, xc_addr first, const uint64_t *entries, size_t count)
{
	struct xc_live_batch batch = {.count = 0};
	uint32_t slots[MAX_WINDOW];
	collect(m, &batch, slots, page, first, entries, count);
	size_t pages = read_batch(m, &batch) / m->page_size;
	for (size_t i = 0; i < batch.count; i++) {
		if (i < pages)
			xc_live_cache_fill(&m->cache, slots[i], batch.addrs[i], true);
		else
			xc_live_cache_release(&m->cache, slots[i]);
	}
	return xc_live_cache_find(&m->cache, page) != XC_NO_SLOT;
}

/* Put a page that is not in the page tables into a taken slot. */
static bool read_absent(struct xc_live_memory *m, struct xc_live_region *r, xc_addr page, uint8_t *bytes)
{
	bool known = !xc_live_kernel_gone(&m->kernel) && xc_live_absent_page(&m->absents, r, page, bytes, m->page_size);
	m->stats->absent += known;
	return known;
}

static bool load_absent(struct xc_live_memory *m, struct xc_live_region *r, xc_addr page)
{
	uint32_t slot = xc_live_cache_take(&m->cache);
	bool known = read_absent(m, r, page, xc_live_cache_bytes(&m->cache, slot));
	if (known)
		xc_live_cache_fill(&m->cache, slot, page, true);
	else
		xc_live_cache_release(&m->cache, slot);
	return known;
}

/* Load the page at `page`, and some around it, into the cache. */
static bool load(struct xc_live_memory *m, struct xc_live_region *r, xc_addr page, size_t wanted)
{
	uint64_t entries[MAX_WINDOW];
	size_t count;
	xc_addr first = choose_window(m, r, page, wanted, &count);
	size_t mine = (size_t)((page - first) / m->page_size);
	count = xc_live_kernel_entries(&m->kernel, first, entries, count);
	if (count <= mine) {
		xc_live_kernel_gone(&m->kernel);
		return false;
	}
	if (!xc_live_kernel_may_read(&m->kernel, entries[mine]))
		return !xc_live_entry_swapped(entries[mine]) && load_absent(m, r, page);
	return load_present(m, page, first, entries, count) ||
	       (mine && load_present(m, page, page, &entries[mine], 1)); /* one below it could not be read */
}

/* ---- reading ---- */

/* Call before reading. Returns the start time for the function below. */
static uint64_t begin_reading(struct xc_live_memory *m)
{
	if (!m->brief)
		m->stats->paused_ns += xc_live_throttle_wait(&m->pace, m->unpaid);
	m->unpaid = 0;
	return xc_now_ns();
}

static void end_reading(struct xc_live_memory *m, uint64_t begun_ns)
{
	m->stats->read_ns += xc_now_ns() - begun_ns;
}

static bool load_throttled(struct xc_live_memory *m, struct xc_live_region *r, xc_addr page, size_t wanted)
{
	if (m->kernel.gone)
		return false;
	uint64_t begun = begin_reading(m);
	bool loaded = load(m, r, page, wanted);
	end_reading(m, begun);
	return loaded;
}

static size_t read_cached(struct xc_live_region *r, xc_addr addr, uint8_t *buf, size_t len)
{
	struct xc_live_memory *m = r->memory;
	size_t done = 0;
	while (done < len) {
		size_t skip = (size_t)(addr % m->page_size), here = m->page_size - skip;
		if (here > len - done)
			here = len - done;
		xc_addr page = addr - skip;
		uint32_t slot = xc_live_cache_find(&m->cache, page);
		if (slot == XC_NO_SLOT) {
			if (!load_throttled(m, r, page, (skip + (len - done) + m->page_size - 1) / m->page_size))
				break;
			slot = xc_live_cache_find(&m->cache, page);
		}
		xc_live_cache_touch(&m->cache, slot);
		memcpy(buf + done, xc_live_cache_bytes(&m->cache, slot) + skip, here);
		done += here;
		addr += here;
	}
	return done;
}

/* Read the present pages from addr on; or only the first one, if it is absent. */
static size_t reread_some(struct xc_live_region *r, xc_addr addr, uint8_t *buf, size_t len)
{
	struct xc_live_memory *m = r->memory;
	struct xc_live_batch batch = {.count = 0};
	uint64_t entries[MAX_WINDOW];
	size_t skip = (size_t)(addr % m->page_size), done = 0;
	size_t count = (len - 1) / m->page_size + 2;
	count = xc_live_kernel_entries(&m->kernel, addr - skip, entries, count < MAX_WINDOW ? count : MAX_WINDOW);
	for (size_t i = 0; i < count && done < len && xc_live_kernel_may_read(&m->kernel, entries[i]); i++) {
		size_t here = m->page_size - (i ? 0 : skip);
		if (here > len - done)
			here = len - done;
		xc_live_batch_add(&batch, addr + done, buf + done, here);
		done += here;
	}
	if (batch.count || !count || xc_live_entry_swapped(entries[0]))
		return batch.count ? read_batch(m, &batch) : 0;
	if (!skip && len >= m->page_size)
		return read_absent(m, r, addr, buf) ? m->page_size : 0;
	uint32_t slot = xc_live_cache_take(&m->cache);
	if (read_absent(m, r, addr - skip, xc_live_cache_bytes(&m->cache, slot))) {
		done = m->page_size - skip < len ? m->page_size - skip : len;
		memcpy(buf, xc_live_cache_bytes(&m->cache, slot) + skip, done);
	}
	xc_live_cache_release(&m->cache, slot);
	return done;
}

static size_t read_fresh(struct xc_live_region *r, xc_addr addr, uint8_t *buf, size_t len)
{
	struct xc_live_memory *m = r->memory;
	size_t done = 0, got = 1;
	for (; done < len && got && !m->kernel.gone; done += got) {
		uint64_t begun = begin_reading(m);
		got = reread_some(r, addr + done, buf + done, len - done);
		end_reading(m, begun);
	}
	if (!got)
		xc_live_kernel_gone(&m->kernel); /* is only this page lost, or the process? */
	return done;
}

/* Frozen bytes are copied; `read` supplies those in between. */
static size_t read_around_frozen(struct xc_live_region *r, xc_addr addr, uint8_t *buf, size_t len,
				 xc_live_read_fn *read)
{
	const struct xc_live_frozen *frozen = &r->memory->frozen;
	size_t done = 0, got = 1;
	for (; done < len && got; done += got) {
		xc_addr at = addr + done;
		const struct xc_live_frozen_range *f = xc_live_frozen_find(frozen, at);
		size_t left = len - done;
		if (f && f->lo <= at && !f->bytes)
			return done;
		if (f && f->lo <= at) {
			got = f->hi - at < left ? (size_t)(f->hi - at) + 1 : left;
			memcpy(buf + done, f->bytes + (at - f->lo), got);
		} else {
			size_t want = f && f->lo - at < left ? (size_t)(f->lo - at) : left;
			got = read(r, at, buf + done, want);
			if (got < want)
				return done + got;
		}
	}
	return done;
}

static size_t read_locked(struct xc_live_region *r, xc_addr addr, void *buf, size_t len, xc_live_read_fn *read)
{
	struct xc_live_window *window = &r->memory->shown;
	pthread_mutex_lock(&r->memory->lock);
	size_t got = xc_live_window_has(window, addr)
			     ? xc_live_window_read(window, r, r->hi, read_fresh, addr, buf, len)
			     : read_around_frozen(r, addr, buf, len, read);
	pthread_mutex_unlock(&r->memory->lock);
	return got;
}

static size_t live_read(void *ctx, uint64_t offset, void *buf, size_t len)
{
	return read_locked(ctx, offset, buf, len, read_cached);
}

size_t xc_live_memory_reread(struct xc_live_region *r, xc_addr addr, void *buf, size_t len)
{
	return read_locked(r, addr, buf, len, read_fresh);
}

static const char *why_locked(struct xc_live_region *r, xc_addr addr)
{
	struct xc_live_memory *m = r->memory;
	uint64_t entry;
	const struct xc_live_frozen_range *held = xc_live_frozen_find(&m->frozen, addr);
	if (held && held->lo <= addr && !held->bytes)
		return "above the part of the stack that the kernel copied with the sample";
	if (xc_live_kernel_gone(&m->kernel))
		return "the process has exited or replaced itself by exec";
	if (xc_live_kernel_entries(&m->kernel, addr / m->page_size * m->page_size, &entry, 1) != 1)
		return NULL;
	if (xc_live_entry_guard(entry))
		return "a guard page";
	if (xc_live_entry_present(entry))
		return "the kernel refused to read this page";
	if (xc_live_entry_swapped(entry))
		return m->kernel.handles.swap ? "the swapped-out page could not be read"
					      : "swapped out, and read only with --swap";
	return xc_live_absent_why(&m->absents, r, addr);
}

static const char *live_why(void *ctx, uint64_t offset)
{
	struct xc_live_region *r = ctx;
	pthread_mutex_lock(&r->memory->lock);
	const char *why = why_locked(r, offset);
	pthread_mutex_unlock(&r->memory->lock);
	return why;
}

const struct xc_backing xc_live_backing = {.read = live_read, .why = live_why};

/* ---- for live.c ---- */

static void forget_places(struct xc_live_memory *m)
{
	m->window = 0;
	m->first = m->expected = 0;
	m->absents.recheck_ns = 0;
}

void xc_live_memory_forget(struct xc_live_memory *m, bool thaw)
{
	pthread_mutex_lock(&m->lock);
	xc_live_cache_clear(&m->cache);
	xc_live_renewal_end(&m->renewal);
	forget_places(m);
	if (thaw) {
		xc_live_frozen_clear(&m->frozen);
		xc_live_throttle_begin(&m->pace);
		m->absents.flags_read = false;
	}
	pthread_mutex_unlock(&m->lock);
}

void xc_live_memory_renew(struct xc_live_memory *m, uint64_t reader)
{
	pthread_mutex_lock(&m->lock);
	m->unpaid += xc_live_renewal_begin(&m->renewal, reader, &m->cache, &m->kernel);
	forget_places(m);
	pthread_mutex_unlock(&m->lock);
}

void xc_live_memory_brief(struct xc_live_memory *m, bool brief)
{
	pthread_mutex_lock(&m->lock);
	m->brief = brief;
	pthread_mutex_unlock(&m->lock);
}

void xc_live_memory_show(struct xc_live_memory *m, xc_addr lo, const uint8_t *bytes, size_t len, xc_addr end)
{
	pthread_mutex_lock(&m->lock);
	xc_live_window_set(&m->shown, lo, bytes, len, end);
	pthread_mutex_unlock(&m->lock);
}

bool xc_live_memory_hold(struct xc_live_memory *m, bool whole)
{
	pthread_mutex_lock(&m->lock);
	bool fits = xc_live_frozen_fits(&m->frozen, m->shown.len + m->shown.late_len);
	if (fits)
		xc_live_window_hold(&m->shown, &m->frozen, whole);
	pthread_mutex_unlock(&m->lock);
	return fits;
}

bool xc_live_memory_freeze(struct xc_live_memory *m, xc_addr lo, uint8_t *bytes, uint64_t len)
{
	pthread_mutex_lock(&m->lock);
	bool fits = xc_live_frozen_fits(&m->frozen, len);
	if (fits)
		xc_live_frozen_take(&m->frozen, lo, bytes, len);
	else
		free(bytes);
	pthread_mutex_unlock(&m->lock);
	return fits;
}

const uint8_t *xc_live_memory_frozen(struct xc_live_memory *m, xc_addr addr, xc_addr *lo_out, xc_addr *hi_out)
{
	pthread_mutex_lock(&m->lock);
	const struct xc_live_frozen_range *range = xc_live_frozen_find(&m->frozen, addr);
	const uint8_t *bytes = range && range->lo <= addr ? range->bytes : NULL;
	if (bytes) {
		*lo_out = range->lo;
		*hi_out = range->hi;
	}
	pthread_mutex_unlock(&m->lock);
	return bytes;
}

bool xc_live_memory_resident(struct xc_live_memory *m, xc_addr lo, xc_addr hi, uint64_t *bytes_out)
{
	return xc_live_kernel_resident(&m->kernel, lo, hi, bytes_out);
}

void xc_live_memory_torn(struct xc_live_memory *m)
{
	pthread_mutex_lock(&m->lock);
	m->stats->torn++;
	pthread_mutex_unlock(&m->lock);
}

struct xc_live_stats xc_live_memory_stats(struct xc_live_memory *m)
{
	pthread_mutex_lock(&m->lock);
	struct xc_live_stats stats = *m->stats;
	pthread_mutex_unlock(&m->lock);
	return stats;
}

bool xc_live_memory_gone(struct xc_live_memory *m)
{
	pthread_mutex_lock(&m->lock);
	bool gone = xc_live_kernel_gone(&m->kernel);
	pthread_mutex_unlock(&m->lock);
	return gone;
}

bool xc_live_memory_found_gone(struct xc_live_memory *m)
{
	pthread_mutex_lock(&m->lock);
	bool gone = m->kernel.gone;
	pthread_mutex_unlock(&m->lock);
	return gone;
}
