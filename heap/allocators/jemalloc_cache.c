/* jemalloc_cache: what threads keep for themselves, and the memory in which they keep it.
 *
 * A thread's cache is an array of bins, one for each small class and then for some large ones, in its thread-local
 * storage (tsd_t); each bin has a stack of addresses. All stacks of a cache lie one behind the other in one block that
 * jemalloc hands out to itself. Bins, 24 bytes each:
 *
 *	5.3       | top of stack, grows down | requests | low water, full, empty: 16 low bits each of positions in the stack |
 *	5.0 – 5.2 | low water (4) | count (4) | requests | end of stack: the addresses stand right below it |
 *
 * checked against jemalloc 5.3.0, include/jemalloc/internal/cache_bin.h and tcache_structs.h, 5.2.1 as it runs and
 * tcache_structs.h of 5.0. Neither symbols nor debug information are needed: bins are known by stacks that follow each other, and believed when the blocks in them are
 * of the class that the bin's place in the array says. */
#include "heap/allocators/jemalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/symbol.h"

enum {
	BIN = 24,
	BINS_MAX = 256,
	BINS_MIN = 8,          /* in a row prove an array */
	MORE_BINS_MIN = 2,     /* when its stacks go on where those of another array ended: large classes up to 5.2 */
	STACK_MAX = 1 << 16,   /* bytes of a stack: its positions have 16 bits */
	STORAGE = 1 << 16,     /* thread-local storage that is searched */
	STORAGE_FAR = 1 << 14, /* where its size is not known */
	TICKERS_FAR = 64,      /* words before the bins */
	LINK_NEAR = 16,        /* before it stand flags; a link at 0 is a list of libc's */
	LINK_FAR = 4096,       /* bytes of a thread's storage before its link at most */
	THREADS_MAX = 1 << 17,
	PAGE = 4096,
	MANUAL_MAX = 4096, /* caches that a program made itself (MALLOCX_TCACHE_MAX) */
};

enum form { FORM_5_3, FORM_5_0, FORMS };

/* A bin's stack: addresses stand from `top` to `end`. Below, down to `low`, may be room. */
struct bin {
	xc_addr low, top, end;
};

static uint32_t half(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static uint16_t quarter(const uint8_t *bytes)
{
	uint16_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static bool read_new_bin(const uint8_t *bytes, struct bin *bin)
{
	uint64_t top = xc_jemalloc_word(bytes);
	uint16_t water = quarter(bytes + 16), full = quarter(bytes + 18), empty = quarter(bytes + 20);
	uint16_t count = (uint16_t)(empty - (uint16_t)top), room = (uint16_t)(empty - full),
		 low = (uint16_t)(empty - water);
	if (top < STACK_MAX || (top | full | empty | water) % 8 || room == 0 || count > room || low > count)
		return false;
	*bin = (struct bin){.low = top + count - room, .top = top, .end = top + count};
	return true;
}

static bool read_old_bin(const uint8_t *bytes, struct bin *bin)
{
	uint32_t water = half(bytes), count = half(bytes + 4);
	uint64_t end = xc_jemalloc_word(bytes + 16);
	if (end < STACK_MAX || end % 8 || count > STACK_MAX / 8 || (water > count && water != UINT32_MAX))
		return false;
	*bin = (struct bin){.low = end - 8 * (uint64_t)count, .top = end - 8 * (uint64_t)count, .end = end};
	return true;
}

static bool read_bin(enum form form, const uint8_t *bytes, struct bin *bin)
{
	return form == FORM_5_3 ? read_new_bin(bytes, bin) : read_old_bin(bytes, bin);
}

/* Does the stack lie right behind the other one? */
static bool follows(const struct bin *before, const struct bin *bin)
{
	return bin->low >= before->end && bin->end > before->end && bin->end - before->end <= STACK_MAX;
}

/* The bins from here on. */
static unsigned read_bins(enum form form, const uint8_t *bytes, size_t len, const struct bin *before,
			  struct bin bins[BINS_MAX])
{
	unsigned count = 0;
	while (count < BINS_MAX && len - count * BIN >= BIN && read_bin(form, bytes + count * BIN, &bins[count]) &&
	       (!before || follows(before, &bins[count])))
		before = &bins[count++];
	return count;
}

/* ---- what they hold ---- */

static bool is_used(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *e, uint64_t region)
{
	uint64_t word;
	xc_addr at = e->edata + je->layouts[e->tree].bitmap + region / 64 * 8;
	return xc_space_peek_uint(je->heap->process->space, at, 8, &word) && !(word >> (region % 64) & 1);
}

/* The block that an address lies in: false when there is none that is in use. */
static bool block_at(const struct xc_jemalloc *je, xc_addr addr, xc_addr *block_out, unsigned *class_out)
{
	const struct xc_jemalloc_extent *e = xc_jemalloc_extent_at(je, addr);
	uint64_t size = e ? xc_jemalloc_block_size(je, e) : 0;
	if (size == 0 || addr < e->addr)
		return false;
	uint64_t region = e->slab ? (addr - e->addr) / size : 0;
	if (region >= xc_jemalloc_block_count(je, e) || (e->slab && !is_used(je, e, region)))
		return false;
	*block_out = e->addr + region * size;
	*class_out = e->szind;
	return true;
}

/* The addresses of one array of bins, before they are believed. */
struct held {
	struct {
		xc_addr addr;
		int shift; /* class less number of the bin */
	} * items;
	size_t count, capacity;
	size_t all; /* also those that are no blocks */
	size_t shifts[2 * BINS_MAX];
};

static void read_stack(const struct xc_jemalloc *je, const struct bin *bin, unsigned number, struct held *held)
{
	for (xc_addr at = bin->top; at < bin->end; at += 8) {
		uint64_t addr;
		xc_addr block;
		unsigned class;
		held->all++;
		if (!xc_space_peek_uint(je->heap->process->space, at, 8, &addr) ||
		    !block_at(je, addr, &block, &class) || block != addr)
			continue;
		held->items = xc_grow(held->items, held->count, &held->capacity, sizeof *held->items);
		held->items[held->count].addr = addr;
		held->items[held->count].shift = (int)class - (int)number;
		held->shifts[held->items[held->count++].shift + BINS_MAX]++;
	}
}

static void add_address(uint64_t **items, size_t *count, size_t *capacity, uint64_t addr)
{
	*items = xc_grow(*items, *count, capacity, sizeof **items);
	(*items)[(*count)++] = addr;
}

static void note_wrong(struct xc_jemalloc *je, const struct bin *bin, size_t wrong)
{
	if (wrong == 0)
		return;
	char *what = xc_asprintf(
		"a thread's cache holds %zu addresses that are no blocks of the class they are kept for", wrong);
	xc_heap_add_damage(je->heap,
			   &(struct xc_damage){.addr = bin->top, .what = what, .lost_lo = 1, .before = XC_NO_BLOCK});
	free(what);
}

/* Take what the bins hold, when most of it is of the class that it should be. False when it is no cache. */
static bool take_bins(struct xc_jemalloc *je, const struct bin *bins, unsigned count)
{
	struct held held = {0};
	size_t best = 0;
	for (unsigned i = 0; i < count; i++)
		read_stack(je, &bins[i], i, &held);
	for (size_t i = 0; i < XC_COUNT(held.shifts); i++)
		best = held.shifts[i] > held.shifts[best] ? i : best;
	bool good = held.all == 0 || held.shifts[best] >= held.all - held.all / 5;
	for (size_t i = 0; good && i < held.count; i++)
		if (held.items[i].shift + BINS_MAX == (int)best)
			add_address(&je->cached, &je->cached_count, &je->cached_capacity, held.items[i].addr);
	if (good)
		note_wrong(je, bins, held.all - (held.all ? held.shifts[best] : 0));
	free(held.items);
	return good;
}

static void add_internal(struct xc_jemalloc *je, xc_addr addr)
{
	xc_addr block;
	unsigned class;
	if (block_at(je, addr, &block, &class))
		add_address(&je->internal, &je->internal_count, &je->internal_capacity, block);
}

/* Stacks lie in a block of jemalloc's. */
static bool is_stack(const struct xc_jemalloc *je, const struct bin *bin)
{
	xc_addr block;
	unsigned class;
	return block_at(je, bin->end - 8, &block, &class);
}

/* Up to 5.2 each thread has a block of tickers, too, whose address stands behind that of its arena, before the bins (tsd.h,
 * arenas_tdata). */
static void add_tickers(struct xc_jemalloc *je, const uint8_t *bytes, size_t bins_at)
{
	xc_addr block;
	unsigned class;
	for (size_t i = 1; i < TICKERS_FAR && i * 8 + 8 <= bins_at; i++) {
		const uint8_t *at = bytes + bins_at - i * 8;
		uint64_t addr = xc_jemalloc_word(at);
		if (!xc_jemalloc_is_own(je, xc_jemalloc_word(at - 8)) || !block_at(je, addr, &block, &class) ||
		    block != addr)
			continue;
		add_internal(je, addr);
		return;
	}
}

static bool was_read(const struct xc_jemalloc *je, xc_addr bins)
{
	for (size_t i = 0; i < je->cache_count; i++)
		if (je->caches[i] == bins)
			return true;
	return false;
}

/* Bins at some place, if they are a cache: takes what they hold. Returns how many bins there are. */
static unsigned take_at(struct xc_jemalloc *je, enum form form, const uint8_t *bytes, size_t len, struct bin *last)
{
	struct bin bins[BINS_MAX];
	bool more = last->end != 0;
	unsigned count = read_bins(form, bytes, len, more ? last : NULL, bins);
	if (count < (more ? (unsigned)MORE_BINS_MIN : (unsigned)BINS_MIN) || !is_stack(je, &bins[0]) ||
	    !take_bins(je, bins, count))
		return 0;
	add_internal(je, bins[0].end - 8);
	*last = bins[count - 1];
	return count;
}

/* Search memory, copied from `addr`, for the bins of one cache. False when it has none, or when they were read before. */
static bool search(struct xc_jemalloc *je, xc_addr addr, const uint8_t *bytes, size_t len)
{
	struct bin last = {0};
	enum form first = 0, end = FORMS;
	for (size_t at = 0; at + BIN <= len;) {
		unsigned count = 0;
		for (enum form form = first; form < end && count == 0; form++) {
			if (!read_bin(form, bytes + at, &(struct bin){0}))
				continue;
			if (was_read(je, addr + at))
				return false;
			count = take_at(je, form, bytes + at, len - at, &last);
			if (count == 0 || end - first == 1)
				continue;
			add_address(&je->caches, &je->cache_count, &je->cache_capacity, addr + at);
			if (form != FORM_5_3)
				add_tickers(je, bytes, at);
			first = form;
			end = form + 1;
		}
		at += count ? count * BIN : 8;
	}
	return last.end != 0;
}

/* ---- where they are ---- */

/* The thread's storage for a module; false when it has none. A range up to the thread pointer where that lies above. */
static bool storage_of(const struct xc_process *process, const struct xc_thread *thread, const struct xc_module *module,
		       xc_addr *block_out, uint64_t *size_out)
{
	const struct xc_arch *arch = process->arch;
	uint64_t tp, dtv, length, block;
	if (!xc_regs_get(&thread->regs, arch->tls.tp, &tp))
		return false;
	xc_addr base = tp - arch->tls.bias;
	*size_out = STORAGE_FAR;
	if (module->tls_offset_known) {
		*block_out =
			arch->tls.below ? base - (uint64_t)module->tls_offset : base + (uint64_t)module->tls_offset;
		if (arch->tls.below && tp - *block_out < STORAGE)
			*size_out = tp - *block_out;
		return true;
	}
	if (module->tls_modid == 0 || !xc_space_peek_uint(process->space, base + (uint64_t)arch->tls.dtv, 8, &dtv) ||
	    !xc_space_peek_uint(process->space, dtv - 16, 8, &length) || module->tls_modid > length ||
	    !xc_space_peek_uint(process->space, dtv + module->tls_modid * 16, 8, &block) || block == 0)
		return false;
	*block_out = block;
	return true;
}

static bool read_thread(struct xc_jemalloc *je, const struct xc_thread *thread, uint8_t *buf)
{
	bool found = false;
	for (size_t i = 0; i < je->tree_count; i++) {
		xc_addr block;
		uint64_t size;
		if (!storage_of(je->heap->process, thread, je->trees[i].module, &block, &size))
			continue;
		size_t got = xc_space_peek(je->heap->process->space, block, buf, size);
		found = search(je, block, buf, got) || found;
	}
	return found;
}

/* ---- the ring of threads ---- */

/* From 5.1 on the storage of all threads forms a ring (tsd_link in tsd.h), of which a word of jemalloc's own data is one
 * link: it leads to the caches where thread pointers are not known, as in running processes. The storage of a thread that
 * ended is a ring by itself, and words of the data can still lead there (who held a lock last), so that a ring of one counts
 * only where there is none of several. */
struct ring {
	xc_addr first;
	uint64_t next_at; /* offset of the link: next, previous */
};

enum company { SEVERAL, ONE };

static bool is_link(const struct xc_space *space, xc_addr storage, uint64_t at, uint64_t next, uint64_t previous)
{
	uint64_t back, forth;
	return next > STACK_MAX && previous > STACK_MAX && (next | previous) % 8 == 0 &&
	       xc_space_peek_uint(space, next + at + 8, 8, &back) && back == storage &&
	       xc_space_peek_uint(space, previous + at, 8, &forth) && forth == storage;
}

/* Is there such a link in the storage that begins here? */
static bool find_link(const struct xc_space *space, xc_addr storage, enum company company, struct ring *ring)
{
	uint8_t buf[LINK_FAR];
	size_t got = xc_space_peek(space, storage, buf, sizeof buf);
	for (size_t at = LINK_NEAR; at + 16 <= got; at += 8) {
		xc_addr next = xc_jemalloc_word(buf + at);
		if ((next == storage) == (company == ONE) &&
		    is_link(space, storage, at, next, xc_jemalloc_word(buf + at + 8))) {
			*ring = (struct ring){storage, at};
			return true;
		}
	}
	return false;
}

/* May it be storage of a thread? That is no memory of jemalloc and of no module. */
static bool may_be_storage(const struct xc_jemalloc *je, xc_addr addr)
{
	const struct xc_mapping *m =
		addr > STACK_MAX && addr % 8 == 0 ? xc_process_mapping(je->heap->process, addr) : NULL;
	return m && m->writable && !xc_process_module(je->heap->process, addr) && !xc_jemalloc_is_own(je, addr) &&
	       !xc_jemalloc_extent_at(je, addr);
}

static size_t read_ring(struct xc_jemalloc *je, const struct ring *ring, uint8_t *buf)
{
	const struct xc_space *space = je->heap->process->space;
	uint64_t at = ring->first;
	size_t count = 0;
	for (unsigned i = 0; i < THREADS_MAX; i++) {
		count += search(je, at, buf, xc_space_peek(space, at, buf, STORAGE_FAR));
		if (!xc_space_peek_uint(space, at + ring->next_at, 8, &at) || at == ring->first)
			break;
	}
	return count;
}

static size_t read_ring_of(struct xc_jemalloc *je, const struct xc_module *module, const struct xc_mapping *m,
			   enum company company, uint8_t *buf)
{
	const struct xc_space *space = je->heap->process->space;
	struct xc_window window;
	struct ring ring;
	size_t count = 0;
	xc_addr at = m->lo > module->lo ? m->lo : module->lo, hi = m->hi < module->hi ? m->hi : module->hi;
	xc_window_init(&window, space);
	for (uint64_t len = 0; at < hi && count == 0; at += len) {
		const uint8_t *bytes = xc_window_run(&window, at, hi - at + 1, &len);
		len = bytes ? len : PAGE;
		for (uint64_t i = 0; bytes && i + 8 <= len && count == 0; i += 8)
			if (may_be_storage(je, xc_jemalloc_word(bytes + i)) &&
			    find_link(space, xc_jemalloc_word(bytes + i), company, &ring))
				count = read_ring(je, &ring, buf);
	}
	xc_window_fini(&window);
	return count;
}

static size_t read_rings_in(struct xc_jemalloc *je, const struct xc_module *module, enum company company, uint8_t *buf)
{
	const struct xc_process *process = je->heap->process;
	size_t count = 0;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		if (m->writable && m->hi >= module->lo && m->lo <= module->hi)
			count += read_ring_of(je, module, m, company, buf);
	}
	return count;
}

static size_t read_rings(struct xc_jemalloc *je, uint8_t *buf)
{
	size_t count = 0;
	for (size_t t = 0; t < je->tree_count; t++) {
		const struct xc_module *module = je->trees[t].module;
		size_t several = read_rings_in(je, module, SEVERAL, buf);
		count += several ? several : read_rings_in(je, module, ONE, buf);
	}
	return count;
}

/* ---- all of them ---- */

/* Caches that a program made by mallctl("tcache.create"): an array of pointers, of which unused ones point into the array. */
static size_t read_manual(struct xc_jemalloc *je, size_t tree, uint8_t *buf)
{
	const struct xc_space *space = je->heap->process->space;
	struct xc_module *module;
	xc_addr at, array, cache, block;
	unsigned class;
	size_t count = 0;
	const char *prefix = je->trees[tree].prefix;
	char *name = xc_asprintf("%stcaches", prefix ? prefix : "");
	const struct xc_symbol *symbol = prefix ? xc_symbol_find(je->heap->process, name, &module, &at) : NULL;
	free(name);
	if (!symbol || module != je->trees[tree].module || !xc_space_peek_uint(space, at, 8, &array))
		return 0;
	for (unsigned i = 0; i < MANUAL_MAX; i++) {
		if (!xc_space_peek_uint(space, array + 8 * i, 8, &cache))
			break;
		if (!block_at(je, cache, &block, &class))
			continue;
		size_t got = xc_space_peek(space, cache, buf, STORAGE_FAR);
		if (search(je, cache, buf, got)) {
			add_internal(je, cache);
			count++;
		}
	}
	return count;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Sorted, each once. */
static void sort_once(uint64_t *items, size_t *count)
{
	size_t kept = 0, all = *count;
	if (all == 0)
		return;
	qsort(items, all, sizeof *items, by_value);
	for (size_t i = 0; i < all; i++)
		if (kept == 0 || items[kept - 1] != items[i])
			items[kept++] = items[i];
	*count = kept;
}

static void note_doubles(struct xc_jemalloc *je)
{
	for (size_t i = 1; i < je->cached_count; i++)
		if (je->cached[i] == je->cached[i - 1])
			xc_heap_add_damage(
				je->heap, &(struct xc_damage){
						  .addr = je->cached[i],
						  .what = "the block is in caches of threads twice: it was freed twice",
						  .lost_lo = 1,
						  .before = XC_NO_BLOCK});
}

static void tell(struct xc_jemalloc *je, size_t by_storage, size_t by_ring, size_t manual)
{
	for (size_t i = 0; i < je->tree_count; i++) {
		char *told = xc_asprintf(
			"%s; caches of %zu threads (%zu by their thread pointers, %zu by the ring of them) and "
			"%zu made by the program",
			je->evidence[i], by_storage + by_ring, by_storage, by_ring, manual);
		free(je->evidence[i]);
		je->evidence[i] = told;
	}
}

void xc_jemalloc_read_caches(struct xc_jemalloc *je)
{
	const struct xc_process *process = je->heap->process;
	size_t by_storage = 0, by_ring = 0, unknown = 0, manual = 0;
	uint8_t *buf = xc_alloc(STORAGE);
	for (size_t i = 0; i < process->thread_count && process->arch->tls.tp >= 0; i++) {
		unknown += !xc_regs_known(&process->threads[i].regs, process->arch->tls.tp);
		by_storage += read_thread(je, &process->threads[i], buf);
	}
	if (unknown || by_storage == 0)
		by_ring = read_rings(je, buf);
	for (size_t i = 0; i < je->tree_count; i++)
		manual += read_manual(je, i, buf);
	free(buf);
	tell(je, by_storage, by_ring, manual);
	if (je->cached_count)
		qsort(je->cached, je->cached_count, sizeof *je->cached, by_value);
	note_doubles(je);
	sort_once(je->cached, &je->cached_count);
	sort_once(je->internal, &je->internal_count);
}
