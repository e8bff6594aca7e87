/* live_memory: pages of a running process, through a cache of fixed size.
 *
 *   read ─→ cached page? ──yes──────────────────────────────────→ copy
 *              │ no
 *           pagemap: which of the next pages are present?
 *              │ present            │ swapped            │ in no page table
 *           one process_vm_readv    fault, unless        live_absent: zero page, mapped
 *           for all of them         --swap was given     file, or a fault
 *
 * Only pages the process has are read: reading another one would make the kernel give it that page, which grows
 * its page tables (and, for a device or a userfaultfd range, could do anything). pagemap also shows ranges of
 * device memory (VM_PFNMAP) as never present, so those are not read either.
 *
 * Behind Landlock process_vm_readv is refused, so /proc/PID/mem, opened read-only before, stands in: the same bytes
 * at the same speed. It also tells life from death. It holds on to the address space, not to the pid: once that is
 * gone, by exit or exec, a read at any address gives 0 bytes, and one at address 0 of a living process is EIO and
 * touches nothing. Every process_vm_readv is followed by that probe, so bytes of a stranger who got the same pid,
 * or of the program it has become by exec, are thrown away.
 *
 * Reading ahead: a miss loads 4 pages; a miss where the last load ended doubles that up to 64. Pages are replaced by
 * the clock algorithm. One lock covers all; a hit costs a lock, a hash and a copy.
 *
 * pagemap bits: Linux Documentation/admin-guide/mm/pagemap.rst (6.15): 63 present, 62 swapped, 58 guard. */
#include "live_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_GUARD   (UINT64_C(1) << 58)

#ifdef XC_HOSTILE
enum { CACHE_BYTES = 64 << 10, MAX_WINDOW = 4 };
#else
enum { CACHE_BYTES = 16 << 20, MAX_WINDOW = 64 };
#endif
enum { MIN_WINDOW = 4 };

static const uint32_t NO_SLOT = UINT32_MAX;

enum slot_state { SLOT_FREE, SLOT_LOADING, SLOT_FILLED };

struct slot {
	xc_addr page;
	uint32_t next; /* in its hash chain */
	uint8_t state;
	bool touched; /* since the hand of the clock last came by */
};

struct xc_live_memory {
	struct xc_live_handles handles;
	pthread_mutex_t lock; /* covers everything below */
	size_t page_size;
	struct slot *slots;
	uint8_t *data; /* slot_count pages */
	uint32_t slot_count, hand;
	uint32_t *heads;  /* hash table, 2 * slot_count */
	xc_addr expected; /* where the last load ended */
	size_t window;
	bool readv_refused, gone;
	struct xc_live_stats stats;
	struct xc_live_absents absents;
};

static uint32_t round_up_power(size_t n)
{
	uint32_t p = 16;
	while (p < n)
		p *= 2;
	return p;
}

static void clear_cache(struct xc_live_memory *m)
{
	for (uint32_t i = 0; i < 2 * m->slot_count; i++)
		m->heads[i] = NO_SLOT;
	memset(m->slots, 0, m->slot_count * sizeof *m->slots);
	m->window = 0;
	m->expected = 0;
}

struct xc_live_memory *xc_live_memory_new(const struct xc_live_handles *handles)
{
	struct xc_live_memory *m = xc_alloc(sizeof *m);
	m->handles = *handles;
	pthread_mutex_init(&m->lock, NULL);
	m->page_size = (size_t)sysconf(_SC_PAGESIZE);
	m->slot_count = round_up_power(CACHE_BYTES / m->page_size);
	m->slots = xc_alloc(m->slot_count * sizeof *m->slots);
	m->heads = xc_alloc(2 * m->slot_count * sizeof *m->heads);
	m->data = xc_alloc(m->slot_count * m->page_size); /* calloc of this size is untouched zero pages */
	m->absents = (struct xc_live_absents){.maps = handles->maps, .smaps = handles->smaps, .root = handles->root};
	clear_cache(m);
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
	close_if_open(m->handles.mem);
	close_if_open(m->handles.maps);
	close_if_open(m->handles.pagemap);
	close_if_open(m->handles.smaps);
	close_if_open(m->handles.root);
	pthread_mutex_destroy(&m->lock);
	free(m->absents.regions);
	free(m->slots);
	free(m->heads);
	free(m->data);
	free(m);
}

struct xc_live_region *xc_live_memory_regions(struct xc_live_memory *m, size_t count)
{
	m->absents.regions = xc_alloc(count * sizeof *m->absents.regions);
	m->absents.count = count;
	for (size_t i = 0; i < count; i++) {
		m->absents.regions[i].memory = m;
		m->absents.regions[i].fd = -1;
	}
	return m->absents.regions;
}

void xc_live_memory_trim(struct xc_live_memory *m, size_t used)
{
	m->absents.count = used;
}

/* ---- the cache ---- */

static uint32_t *chain_of(struct xc_live_memory *m, xc_addr page)
{
	uint64_t hash = page / m->page_size * UINT64_C(0x9e3779b97f4a7c15);
	return &m->heads[(hash >> 32) & (2 * m->slot_count - 1)];
}

static uint32_t find_slot(struct xc_live_memory *m, xc_addr page)
{
	uint32_t at = *chain_of(m, page);
	while (at != NO_SLOT && m->slots[at].page != page)
		at = m->slots[at].next;
	return at;
}

static void unlink_slot(struct xc_live_memory *m, uint32_t slot)
{
	uint32_t *link = chain_of(m, m->slots[slot].page);
	while (*link != slot)
		link = &m->slots[*link].next;
	*link = m->slots[slot].next;
}

/* A slot for a page about to be loaded. There is always one: a load takes far fewer than all. */
static uint32_t take_slot(struct xc_live_memory *m)
{
	for (;;) {
		uint32_t at = m->hand;
		struct slot *s = &m->slots[at];
		m->hand = (m->hand + 1) & (m->slot_count - 1);
		if (s->state == SLOT_LOADING)
			continue;
		if (s->state == SLOT_FILLED && s->touched) {
			s->touched = false;
			continue;
		}
		if (s->state == SLOT_FILLED)
			unlink_slot(m, at);
		s->state = SLOT_LOADING;
		return at;
	}
}

static void fill_slot(struct xc_live_memory *m, uint32_t slot, xc_addr page)
{
	uint32_t *chain = chain_of(m, page);
	m->slots[slot] = (struct slot){.page = page, .next = *chain, .state = SLOT_FILLED, .touched = true};
	*chain = slot;
}

static uint8_t *slot_bytes(struct xc_live_memory *m, uint32_t slot)
{
	return m->data + (size_t)slot * m->page_size;
}

/* ---- asking the kernel ---- */

/* See the theory above. */
static bool probe_gone(struct xc_live_memory *m)
{
	char byte;
	if (!m->gone && pread(m->handles.mem, &byte, 1, 0) == 0)
		m->gone = true;
	return m->gone;
}

/* The pagemap entries of up to `count` pages from page on; returns how many, 0 when nothing can be said. */
static size_t page_entries(struct xc_live_memory *m, xc_addr page, uint64_t *entries, size_t count)
{
	ssize_t got = -1;
	if (m->handles.pagemap >= 0)
		got = pread(m->handles.pagemap, entries, count * sizeof *entries,
			    (off_t)(page / m->page_size * sizeof *entries));
	if (got < 0) { /* no pagemap in this kernel: reading will tell */
		for (size_t i = 0; i < count; i++)
			entries[i] = PAGE_PRESENT;
		return count;
	}
	return (size_t)got / sizeof *entries;
}

static bool may_read(const struct xc_live_memory *m, uint64_t entry)
{
	if (entry & PAGE_PRESENT)
		return true;
	return (entry & PAGE_SWAPPED) && !(entry & PAGE_GUARD) && m->handles.swap;
}

/* Pages to load with one system call: pages[i] goes into slots[i]. */
struct batch {
	xc_addr pages[MAX_WINDOW];
	uint32_t slots[MAX_WINDOW];
	struct iovec local[MAX_WINDOW];
	size_t count;
};

static size_t run_length(const struct xc_live_memory *m, const struct batch *b, size_t from)
{
	size_t n = 1;
	while (from + n < b->count && b->pages[from + n] == b->pages[from] + n * m->page_size)
		n++;
	return n;
}

static size_t read_by_call(struct xc_live_memory *m, const struct batch *b)
{
	struct iovec remote[MAX_WINDOW];
	size_t runs = 0;
	for (size_t at = 0, n; at < b->count; at += n) {
		n = run_length(m, b, at);
		remote[runs++] = (struct iovec){(void *)(uintptr_t)b->pages[at], n * m->page_size};
	}
	ssize_t got = process_vm_readv(m->handles.tid, b->local, b->count, remote, runs, 0);
	m->stats.batches++;
	/* ESRCH: that thread has ended; the process may go on, and mem knows. */
	m->readv_refused = got < 0 && (errno == EPERM || errno == ENOSYS || errno == ESRCH);
	return got > 0 && !probe_gone(m) ? (size_t)got : 0;
}

static size_t read_by_file(struct xc_live_memory *m, const struct batch *b)
{
	size_t done = 0;
	for (size_t at = 0, n; at < b->count; at += n) {
		n = run_length(m, b, at);
		ssize_t got = preadv(m->handles.mem, b->local + at, (int)n, (off_t)b->pages[at]);
		m->stats.batches++;
		if (got == 0)
			m->gone = true;
		done += got > 0 ? (size_t)got : 0;
		if (got < 0 || (size_t)got < n * m->page_size)
			break;
	}
	return done;
}

/* ---- loading ---- */

static size_t choose_window(struct xc_live_memory *m, const struct xc_live_region *r, xc_addr page, size_t wanted)
{
	size_t left = (size_t)((r->hi - page) / m->page_size) + 1;
	m->window = page == m->expected && m->window ? m->window * 2 : MIN_WINDOW;
	if (m->window < wanted)
		m->window = wanted;
	if (m->window > MAX_WINDOW)
		m->window = MAX_WINDOW;
	return m->window < left ? m->window : left;
}

/* Collect the readable pages among the `count` from page on, up to the first that is cached. */
static void collect(struct xc_live_memory *m, struct batch *b, xc_addr page, const uint64_t *entries, size_t count)
{
	b->count = 0;
	for (size_t i = 0; i < count; i++, page += m->page_size) {
		m->expected = page;
		if (i > 0 && find_slot(m, page) != NO_SLOT)
			return;
		if (!may_read(m, entries[i]))
			continue;
		uint32_t slot = take_slot(m);
		b->pages[b->count] = page;
		b->slots[b->count] = slot;
		b->local[b->count++] = (struct iovec){slot_bytes(m, slot), m->page_size};
	}
	m->expected = page;
}

static bool load_batch(struct xc_live_memory *m, struct batch *b)
{
	size_t got = 0;
	if (!m->readv_refused)
		got = read_by_call(m, b);
	if (m->readv_refused)
		got = read_by_file(m, b);
	m->stats.bytes += got;
	size_t pages = got / m->page_size;
	for (size_t i = 0; i < b->count; i++) {
		if (i < pages)
			fill_slot(m, b->slots[i], b->pages[i]);
		else
			m->slots[b->slots[i]].state = SLOT_FREE;
	}
	return pages > 0;
}

static bool load_absent(struct xc_live_memory *m, struct xc_live_region *r, xc_addr page)
{
	uint32_t slot = take_slot(m);
	bool known = !probe_gone(m) && xc_live_absent_page(&m->absents, r, page, slot_bytes(m, slot), m->page_size);
	if (known)
		fill_slot(m, slot, page);
	else
		m->slots[slot].state = SLOT_FREE;
	m->stats.absent += known;
	return known;
}

/* Bring the page at `page`, and some behind it, into the cache. */
static bool load(struct xc_live_memory *m, struct xc_live_region *r, xc_addr page, size_t wanted)
{
	uint64_t entries[MAX_WINDOW];
	struct batch batch;
	if (m->gone)
		return false;
	size_t count = page_entries(m, page, entries, choose_window(m, r, page, wanted));
	if (count == 0) {
		probe_gone(m);
		return false;
	}
	if (!may_read(m, entries[0]))
		return !(entries[0] & PAGE_SWAPPED) && load_absent(m, r, page);
	collect(m, &batch, page, entries, count);
	return load_batch(m, &batch);
}

static size_t read_locked(struct xc_live_region *r, xc_addr addr, uint8_t *buf, size_t len)
{
	struct xc_live_memory *m = r->memory;
	size_t done = 0;
	while (done < len) {
		size_t skip = (size_t)(addr % m->page_size), here = m->page_size - skip;
		if (here > len - done)
			here = len - done;
		xc_addr page = addr - skip;
		uint32_t slot = find_slot(m, page);
		if (slot == NO_SLOT) {
			if (!load(m, r, page, (skip + (len - done) + m->page_size - 1) / m->page_size))
				break;
			slot = find_slot(m, page);
		}
		m->slots[slot].touched = true;
		memcpy(buf + done, slot_bytes(m, slot) + skip, here);
		done += here;
		addr += here;
	}
	return done;
}

static size_t live_read(void *ctx, uint64_t offset, void *buf, size_t len)
{
	struct xc_live_region *r = ctx;
	pthread_mutex_lock(&r->memory->lock);
	size_t got = read_locked(r, offset, buf, len);
	pthread_mutex_unlock(&r->memory->lock);
	return got;
}

static const char *why_locked(struct xc_live_region *r, xc_addr addr)
{
	struct xc_live_memory *m = r->memory;
	uint64_t entry;
	if (probe_gone(m))
		return "the process has exited or replaced itself by exec";
	if (page_entries(m, addr / m->page_size * m->page_size, &entry, 1) != 1)
		return NULL;
	if (entry & PAGE_GUARD)
		return "a guard page";
	if (entry & PAGE_PRESENT)
		return "the kernel refused to read this page";
	if (entry & PAGE_SWAPPED)
		return m->handles.swap ? "the swapped-out page could not be read"
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

void xc_live_memory_refresh(struct xc_live_memory *m)
{
	pthread_mutex_lock(&m->lock);
	clear_cache(m);
	m->absents.flags_read = false;
	m->absents.checked_ns = 0;
	pthread_mutex_unlock(&m->lock);
}

struct xc_live_stats xc_live_memory_stats(struct xc_live_memory *m)
{
	pthread_mutex_lock(&m->lock);
	struct xc_live_stats stats = m->stats;
	pthread_mutex_unlock(&m->lock);
	return stats;
}

bool xc_live_memory_gone(struct xc_live_memory *m)
{
	pthread_mutex_lock(&m->lock);
	bool gone = probe_gone(m);
	pthread_mutex_unlock(&m->lock);
	return gone;
}

bool xc_live_memory_found_gone(struct xc_live_memory *m)
{
	pthread_mutex_lock(&m->lock);
	bool gone = m->gone;
	pthread_mutex_unlock(&m->lock);
	return gone;
}
