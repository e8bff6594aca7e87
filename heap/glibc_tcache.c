/* glibc_tcache: what threads keep for themselves.
 *
 * A thread's tcache is a block like any other: nothing but the thread-local variable `tcache` of libc points to it, and that is found only
 * where the thread pointer and libc's symbols are. So it is known by its content: each of its lists has as many entries as its count
 * says, all of them chunks of the class's size, the last link is NULL. No other block looks so by chance.
 * For layouts see glibc_layout.h. */
#include <stdlib.h>
#include <string.h>

#include "glibc_impl.h"

enum { SLOTS_MAX = 76, SMALL_SLOTS = 64, LIST_MAX = 1 << 16 };

/* A tcache_perthread_struct of some version. */
struct shape {
	uint8_t count_size, slots;
	bool down; /* counts tell what is left, not what is there */
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

/* malloc_usable_size of it. */
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

/* Could the entries be what they claim, without following them? At least one must be there. */
static bool is_sensible(const struct xc_glibc *glibc, const struct tcache *tcache)
{
	unsigned used = 0;
	for (unsigned i = 0; i < tcache->shape->slots; i++) {
		uint64_t entry = tcache->entries[i];
		if (entry && !xc_glibc_is_chunk_place(glibc, entry - 2 * glibc->layout.word))
			return false;
		if (!tcache->shape->down && (entry == 0) != (tcache->counts[i] == 0))
			return false;
		used += entry != 0;
	}
	return used > 0;
}

/* The chunk of an entry that may be in list `slot`, or XC_NO_BLOCK. */
static uint32_t cached_block(const struct xc_glibc *glibc, xc_addr entry, unsigned slot)
{
	const struct xc_blocks *blocks = &glibc->heap->blocks;
	const unsigned word = glibc->layout.word;
	uint32_t block = xc_glibc_block(glibc, entry - 2 * word);
	if (block == XC_NO_BLOCK || xc_block_state(blocks, block) != XC_BLOCK_LIVE)
		return XC_NO_BLOCK;
	return slot >= SMALL_SLOTS || xc_block_size(blocks, block) == 4 * word + slot * XC_GLIBC_ALIGN - word
		       ? block
		       : XC_NO_BLOCK;
}

/* How many entries list `slot` has; -1 when it is no such list. With `mark`, they become cached. */
static long follow(const struct xc_glibc *glibc, struct xc_window *window, const struct tcache *tcache, unsigned slot,
		   bool mark)
{
	uint64_t at = tcache->entries[slot], stored;
	long count = 0;
	for (; at; count++) {
		uint32_t block = cached_block(glibc, at, slot);
		if (block == XC_NO_BLOCK || count >= LIST_MAX || !xc_glibc_jump(glibc, window, at, &stored))
			return -1;
		if (mark)
			xc_blocks_set_state(&glibc->heap->blocks, block, XC_BLOCK_CACHED);
		at = xc_glibc_unmangle(glibc, at, stored);
	}
	return count;
}

/* A thread may die between changing an entry and its count. */
static bool is_tcache(const struct xc_glibc *glibc, struct xc_window *window, const struct tcache *tcache)
{
	for (unsigned i = 0; i < tcache->shape->slots; i++) {
		long count = follow(glibc, window, tcache, i, false);
		if (count < 0 || (!tcache->shape->down && labs(count - tcache->counts[i]) > 1))
			return false;
	}
	return true;
}

/* ---- all of them ---- */

struct search {
	struct xc_glibc *glibc;
	struct xc_window *window;
	void (*found)(struct search *search, const struct tcache *tcache);
	int votes;
};

/* The shape of a tcache that a block of this size may hold, or NULL. A chunk is larger by 16 bytes when what would be left is too small
 * for a chunk of its own. */
static const struct shape *shape_of(const struct xc_glibc *glibc, uint64_t size)
{
	for (size_t i = 0; i < XC_COUNT(shapes); i++)
		if (size - block_size(glibc, &shapes[i]) <= XC_GLIBC_ALIGN)
			return &shapes[i];
	return NULL;
}

/* Call `found` for every live block that has the size of a tcache and could be one. */
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

/* The links of the first entries tell whether links are mangled. */
static void vote(struct search *search, const struct tcache *tcache)
{
	uint64_t stored;
	for (unsigned i = 0; i < tcache->shape->slots; i++)
		if (tcache->entries[i] && xc_glibc_jump(search->glibc, search->window, tcache->entries[i], &stored))
			search->votes += xc_glibc_vote(search->glibc, tcache->entries[i], stored,
						       2 * search->glibc->layout.word);
}

static void settle(struct search *search, const struct tcache *tcache)
{
	if (is_tcache(search->glibc, search->window, tcache))
		for (unsigned i = 0; i < tcache->shape->slots; i++)
			follow(search->glibc, search->window, tcache, i, true);
}

void xc_glibc_settle_tcaches(struct xc_glibc *glibc, struct xc_window *window)
{
	struct search search = {glibc, window, vote, 0};
	if (!glibc->layout.mangled_known) {
		each_candidate(&search);
		glibc->layout.mangled = search.votes > 0;
		glibc->layout.mangled_known = search.votes != 0;
	}
	search.found = settle;
	each_candidate(&search);
}
