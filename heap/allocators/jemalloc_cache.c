/* jemalloc_cache: finds the caches of threads.
 *
 * Each is in the thread-local storage of its thread. That is found by the thread pointer, or by the ring that the
 * storage of all threads forms. jemalloc_bins.c recognises the bins there. */
#include "heap/allocators/jemalloc_impl.h"

#include <inttypes.h>
#include <stdlib.h>

#include "dwarf/elf/symbol.h"

enum {
	LOWEST = 1 << 16,      /* no address is lower */
	STORAGE = 1 << 16,     /* thread-local storage that is searched */
	STORAGE_FAR = 1 << 14, /* if its size is unknown */
	LINK_NEAR = 16,        /* flags are before it; a link at 0 is a list of libc */
	LINK_FAR = 4096,       /* bytes of a thread's storage before its link at most */
	THREADS_MAX = 1 << 17,
	PAGE = 4096,
	MANUAL_MAX = 4096, /* caches that the program made (MALLOCX_TCACHE_MAX) */
};

/* ---- places ---- */

/* The thread's storage for a module; false if there is none. Up to the thread pointer if that is above. */
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
		found = xc_jemalloc_search_bins(je, block, buf, got) || found;
	}
	return found;
}

/* ---- the ring of threads ---- */

/* From 5.1 on the storage of all threads forms a ring (tsd_link in tsd.h). A word of jemalloc's own data points to
 * one of its links. The ring leads to the caches if thread pointers are unknown, as in running processes. The
 * storage of an ended thread is a ring by itself, and words of the data can still point to it (the last holder of a
 * lock). So a ring of one counts only if there is no larger one. */
struct ring {
	xc_addr first;
	uint64_t next_at; /* offset of the link: next, previous */
};

enum company { SEVERAL, ONE };

static bool is_link(const struct xc_space *space, xc_addr storage, uint64_t at, uint64_t next, uint64_t previous)
{
	uint64_t back, forth;
	return next > LOWEST && previous > LOWEST && (next | previous) % 8 == 0 &&
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

/* Can it be the storage of a thread? That is memory of neither jemalloc nor a module. */
static bool may_be_storage(const struct xc_jemalloc *je, xc_addr addr)
{
	const struct xc_mapping *m =
		addr > LOWEST && addr % 8 == 0 ? xc_process_mapping(je->heap->process, addr) : NULL;
	return m && m->writable && !xc_process_module(je->heap->process, addr) && !xc_jemalloc_is_own(je, addr) &&
	       !xc_jemalloc_extent_at(je, addr);
}

static size_t read_ring(struct xc_jemalloc *je, const struct ring *ring, uint8_t *buf)
{
	const struct xc_space *space = je->heap->process->space;
	uint64_t at = ring->first;
	size_t count = 0;
	for (unsigned i = 0; i < THREADS_MAX; i++) {
		count += xc_jemalloc_search_bins(je, at, buf, xc_space_peek(space, at, buf, STORAGE_FAR));
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

/* ---- all caches ---- */

/* Caches made by mallctl("tcache.create"): an array of pointers, of which unused ones point into the array. */
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
		if (!xc_jemalloc_block_at(je, cache, &block, &class))
			continue;
		size_t got = xc_space_peek(space, cache, buf, STORAGE_FAR);
		if (xc_jemalloc_search_bins(je, cache, buf, got)) {
			xc_jemalloc_add_internal(je, cache);
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

/* Sorts and removes duplicates. */
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

static void add_evidence(struct xc_jemalloc *je, size_t by_storage, size_t by_ring, size_t manual)
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
	add_evidence(je, by_storage, by_ring, manual);
	if (je->cached_count)
		qsort(je->cached, je->cached_count, sizeof *je->cached, by_value);
	note_doubles(je);
	sort_once(je->cached, &je->cached_count);
	sort_once(je->internal, &je->internal_count);
}
