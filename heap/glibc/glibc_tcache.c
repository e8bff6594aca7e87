/* glibc_tcache: the caches of threads.
 *
 * A thread's tcache is an ordinary block: only libc's thread-local variable `tcache` points to it, and finding that
 * requires the thread pointer. So a tcache is recognised by its content: each list has as many entries as its count
 * says, all of them chunks of the class's size, and the last link is NULL. Hardly any other block looks like that
 * by chance. If a list is damaged, or counts and lists disagree, other evidence is required: a word in libc's
 * thread-local storage points to the block, it is the very first block of an arena, or several other lists are
 * intact. glibc_layout.h has the layouts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "heap/glibc/glibc_chain.h"

enum { SLOTS_MAX = 76, WHOLE_LISTS = 4, KEYS = 4, ENOUGH = 256 };

/* A tcache_perthread_struct of some version. */
struct shape {
	uint8_t count_size, slots;
	bool down; /* counts are the free slots, not the used ones */
};

static const struct shape shapes[] = {{1, 64, false}, {2, 64, false}, {2, 76, true}};

struct tcache {
	const struct shape *shape;
	xc_addr addr;
	uint16_t counts[SLOTS_MAX];
	uint64_t entries[SLOTS_MAX];
};

static uint64_t shape_size(const struct xc_glibc *glibc, const struct shape *shape)
{
	return (uint64_t)shape->slots * (shape->count_size + glibc->layout.word);
}

/* Its malloc_usable_size. */
static uint64_t block_size(const struct xc_glibc *glibc, const struct shape *shape)
{
	unsigned word = glibc->layout.word;
	return ((shape_size(glibc, shape) + word + XC_GLIBC_ALIGN - 1) & ~(uint64_t)(XC_GLIBC_ALIGN - 1)) - word;
}

static bool read_tcache(const struct xc_glibc *glibc, const struct xc_window *window, struct tcache *tcache)
{
	const struct shape *shape = tcache->shape;
	const unsigned word = glibc->layout.word;
	uint8_t bytes[SLOTS_MAX * (2 + 8)];
	size_t size = (size_t)shape_size(glibc, shape);
	if (xc_space_peek(window->space, tcache->addr, bytes, size) != size)
		return false;
	for (unsigned i = 0; i < shape->slots; i++) {
		uint16_t wide = bytes[i];
		if (shape->count_size == 2)
			memcpy(&wide, bytes + 2 * i, sizeof wide);
		tcache->counts[i] = wide;
		tcache->entries[i] = xc_glibc_load(bytes + shape->slots * shape->count_size + i * word, word);
	}
	return true;
}

/* Could the entries be what they claim, without following them? At least one must exist; one may be damaged. */
static bool is_sensible(const struct xc_glibc *glibc, const struct tcache *tcache)
{
	unsigned used = 0, wrong = 0;
	for (unsigned i = 0; i < tcache->shape->slots && wrong < 2; i++) {
		uint64_t entry = tcache->entries[i];
		bool odd = entry && !xc_glibc_is_chunk_place(glibc, entry - 2 * glibc->layout.word) &&
			   !xc_glibc_is_lost(glibc, entry);
		bool other_count = !tcache->shape->down && (entry == 0) != (tcache->counts[i] == 0);
		wrong += odd || other_count;
		used += entry != 0 && !odd;
	}
	return used > 0 && wrong < 2;
}

/* A thread may die between changes of an entry and its count. */
static bool is_tcache(struct xc_glibc_chains *chains, const struct tcache *tcache)
{
	for (unsigned i = 0; i < tcache->shape->slots; i++) {
		long count = xc_glibc_chain(chains, tcache->entries[i], i);
		bool wrong_count = !tcache->shape->down && labs(count - tcache->counts[i]) > 1;
		if (count != XC_GLIBC_CHAIN_LOST && (count < 0 || wrong_count))
			return false;
	}
	return true;
}

/* ---- damage ---- */

/* A block of which some lists are intact, and at most one begins with something other than a chunk of its class. */
static bool is_damaged_tcache(struct xc_glibc_chains *chains, const struct tcache *tcache)
{
	unsigned whole = 0, wrong = 0;
	for (unsigned i = 0; i < tcache->shape->slots; i++)
		if (tcache->entries[i]) {
			whole += xc_glibc_chain(chains, tcache->entries[i], i) > 0;
			wrong += xc_glibc_chain_block(chains->glibc, tcache->entries[i], i) == XC_NO_BLOCK &&
				 !xc_glibc_is_lost(chains->glibc, tcache->entries[i]);
		}
	return whole >= WHOLE_LISTS && wrong < 2;
}

/* Describes the break of list `slot` at `at`, after `before` (an entry, or 0 for the list's head). */
static void note(const struct xc_glibc *glibc, const struct tcache *tcache, unsigned slot, xc_addr before, xc_addr at,
		 uint64_t stored)
{
	struct xc_heap *heap = glibc->heap;
	if (heap->damage_count >= XC_DAMAGES) { /* it is only counted, without texts */
		xc_heap_add_damage(heap, &(struct xc_damage){.lost_lo = 1, .before = XC_NO_BLOCK});
		return;
	}
	const unsigned header = 2 * glibc->layout.word;
	const uint32_t block = xc_glibc_block(glibc, at - header);
	const uint32_t owner = xc_blocks_find(&heap->blocks, tcache->addr);
	struct xc_damage damage = {.kind = before ? XC_DAMAGE_LINK : XC_DAMAGE_BOOKS,
				   .addr = (before ? before : tcache->addr) - header,
				   .lost_lo = 1,
				   .before = XC_NO_BLOCK};
	uint64_t size = header * 2 + slot * XC_GLIBC_ALIGN;
	if (block != XC_NO_BLOCK && xc_block_is_free(xc_block_state(&heap->blocks, block))) {
		damage.kind = XC_DAMAGE_TWICE;
		damage.addr = at - header;
		damage.what = xc_arena_printf(
			&heap->memory, "it is in a tcache list for chunks of 0x%" PRIx64 " and free already", size);
	} else if (block != XC_NO_BLOCK) {
		damage.what = xc_arena_printf(&heap->memory,
					      "a tcache list for chunks of 0x%" PRIx64 " leads to 0x%" PRIx64
					      ", which has another size",
					      size, at);
	} else {
		damage.what = xc_arena_printf(&heap->memory,
					      "a tcache list for chunks of 0x%" PRIx64 " leads to 0x%" PRIx64
					      ", where no block begins",
					      size, at);
	}
	damage.found = xc_arena_printf(&heap->memory, "link stored as 0x%" PRIx64, stored);
	const struct xc_region *region = owner == XC_NO_BLOCK ? NULL : xc_heap_region(heap, tcache->addr);
	damage.arena = region ? region->arena : 0;
	xc_heap_add_damage(heap, &damage);
}

/* Marks the chunks up to the break and records it. A list that leads to memory missing in the core has no break. False
 * when chunks may follow that it does not lead to. */
static bool settle_damaged(const struct xc_glibc *glibc, struct xc_window *window, const struct tcache *tcache,
			   unsigned slot)
{
	uint64_t at = tcache->entries[slot], stored = at, before = 0;
	for (long count = 0; at; count++) {
		uint32_t block = count < XC_GLIBC_CHAIN_MAX ? xc_glibc_chain_block(glibc, at, slot) : XC_NO_BLOCK;
		if (block == XC_NO_BLOCK || !xc_glibc_jump(glibc, window, at, &stored)) {
			if (!xc_glibc_is_lost(glibc, at) &&
			    !(before && xc_glibc_is_open(glibc, before, stored, 2 * glibc->layout.word)))
				note(glibc, tcache, slot, before, at, stored);
			return false;
		}
		xc_blocks_set_state(&glibc->heap->blocks, block, XC_BLOCK_CACHED);
		before = at;
		at = xc_glibc_unmangle(glibc, at, stored);
	}
	return true;
}

/* ---- all of them ---- */

struct search {
	struct xc_glibc *glibc;
	struct xc_window *window;
	struct xc_glibc_chains chains;
	void (*found)(struct search *search, const struct tcache *tcache);
	int votes, told_votes; /* the latter: of blocks that are tcaches by other evidence */
	bool lost;             /* some list leads to memory that is not in the core, or is damaged */
};

/* The tcache layout that fits a block of this size, or NULL. A chunk is 16 bytes larger if the remainder is too
 * small for a chunk. */
static const struct shape *shape_of(const struct xc_glibc *glibc, uint64_t size)
{
	for (size_t i = 0; i < XC_COUNT(shapes); i++)
		if (size - block_size(glibc, &shapes[i]) <= XC_GLIBC_ALIGN)
			return &shapes[i];
	return NULL;
}

/* Calls `found` for every live block that has the size of a tcache and could be one. */
static void each_candidate(struct search *search)
{
	const struct xc_glibc *glibc = search->glibc;
	const struct xc_blocks *blocks = &glibc->heap->blocks;
	const uint32_t least = (uint32_t)block_size(glibc, &shapes[0]),
		       span = (uint32_t)block_size(glibc, &shapes[XC_COUNT(shapes) - 1]) + XC_GLIBC_ALIGN - least;
	struct tcache tcache;
	for (uint32_t i = 0; i < blocks->count; i++) {
		if (__builtin_expect(blocks->sizes[i] - least > span, 1) || xc_block_state(blocks, i) != XC_BLOCK_LIVE)
			continue;
		tcache.shape = shape_of(glibc, blocks->sizes[i]);
		tcache.addr = xc_block_addr(blocks, i);
		if (tcache.shape && read_tcache(glibc, search->window, &tcache) && is_sensible(glibc, &tcache))
			search->found(search, &tcache);
	}
}

/* Is there evidence that this is a tcache, apart from its content? */
static bool is_told(const struct xc_glibc *glibc, xc_addr addr)
{
	const xc_addr chunk = addr - 2 * glibc->layout.word;
	const struct xc_glibc_segment *segment = xc_glibc_segment_of(glibc, chunk);
	return (segment && segment->lo == chunk) || xc_glibc_thread_with(glibc, addr);
}

/* The links of the first entries show whether links are mangled. Other blocks may look like tcaches with an odd list:
 * only what lists of chunks of their class hold counts. */
static void vote(struct search *search, const struct tcache *tcache)
{
	const struct xc_glibc *glibc = search->glibc;
	int *votes = is_told(glibc, tcache->addr) ? &search->told_votes : &search->votes;
	uint64_t stored;
	for (unsigned i = 0; i < tcache->shape->slots; i++)
		if (xc_glibc_chain_block(glibc, tcache->entries[i], i) != XC_NO_BLOCK &&
		    xc_glibc_jump(glibc, search->window, tcache->entries[i], &stored))
			*votes += xc_glibc_vote(glibc, tcache->entries[i], stored, 2 * glibc->layout.word);
}

static bool counts_agree(const struct tcache *tcache)
{
	for (unsigned i = 0; i < tcache->shape->slots && !tcache->shape->down; i++)
		if ((tcache->entries[i] == 0) != (tcache->counts[i] == 0))
			return false;
	return true;
}

static void settle(struct search *search, const struct tcache *tcache)
{
	bool whole = is_tcache(&search->chains, tcache);
	if (!(whole && counts_agree(tcache)) && !is_told(search->glibc, tcache->addr) &&
	    !is_damaged_tcache(&search->chains, tcache))
		return;
	search->glibc->caches++;
	for (unsigned i = 0; i < tcache->shape->slots; i++)
		search->lost |= whole ? !xc_glibc_chain_mark(&search->chains, tcache->entries[i], i)
				      : !settle_damaged(search->glibc, search->window, tcache, i);
}

/* ---- keys ---- */

static bool key_of(const struct xc_glibc *glibc, struct xc_window *window, uint32_t block, uint64_t *key_out)
{
	return xc_glibc_jump(glibc, window, xc_block_addr(&glibc->heap->blocks, block) + glibc->layout.word, key_out);
}

/* A random number is no address, and no small number, length or text that a program leaves there. */
static bool is_random(const struct xc_glibc *glibc, uint64_t key)
{
	const uint64_t top = key >> 48;
	return glibc->layout.word == 8 && top && top != UINT16_MAX &&
	       xc_text_ascii_run((const char *)&key, sizeof key) < sizeof key;
}

/* The second word of cached chunks: from 2.34 on one random number for the process. False if there are few with it, or
 * more than a damaged one without. */
static bool common_key(const struct xc_glibc *glibc, struct xc_window *window, uint64_t *key_out)
{
	const struct xc_blocks *blocks = &glibc->heap->blocks;
	unsigned same = 0, others = 0;
	for (uint32_t i = 0; i < blocks->count && same < ENOUGH; i++) {
		uint64_t key;
		if (xc_block_state(blocks, i) != XC_BLOCK_CACHED || !key_of(glibc, window, i, &key))
			continue;
		if (!same && is_random(glibc, key))
			*key_out = key;
		same += is_random(glibc, key) && key == *key_out;
		others += !is_random(glibc, key) || key != *key_out;
	}
	return same >= KEYS && others <= 1;
}

/* Chunks after the missing or damaged part of a list are recognised by their key. Elsewhere the key proves nothing: a
 * block that was cached once and not written since may still have it. */
static void settle_by_key(const struct xc_glibc *glibc, struct xc_window *window)
{
	struct xc_blocks *blocks = &glibc->heap->blocks;
	uint64_t key = 0, found;
	if (!common_key(glibc, window, &key))
		return;
	for (uint32_t i = 0; i < blocks->count; i++)
		if (xc_block_state(blocks, i) == XC_BLOCK_LIVE && key_of(glibc, window, i, &found) && found == key)
			xc_blocks_set_state(blocks, i, XC_BLOCK_CACHED);
}

void xc_glibc_settle_tcaches(struct xc_glibc *glibc, struct xc_window *window)
{
	struct search search = {.glibc = glibc, .window = window, .found = vote};
	xc_glibc_read_tls(glibc);
	if (!glibc->layout.mangled_known) {
		each_candidate(&search);
		int votes = search.told_votes ? search.told_votes : search.votes;
		glibc->layout.mangled = votes > 0;
		glibc->layout.mangled_known = votes != 0;
	}
	search.found = settle;
	xc_glibc_chains_init(&search.chains, glibc, window);
	each_candidate(&search);
	xc_glibc_chains_fini(&search.chains);
	if (search.lost)
		settle_by_key(glibc, window);
}

const struct xc_thread *xc_glibc_tcache_of(const struct xc_glibc *glibc, uint32_t block)
{
	const struct xc_blocks *blocks = &glibc->heap->blocks;
	return shape_of(glibc, xc_block_size(blocks, block)) ? xc_glibc_thread_with(glibc, xc_block_addr(blocks, block))
							     : NULL;
}
