#include "heap/glibc/glibc_chain.h"

enum { SMALL_SLOTS = 64 }; /* the slots after them are for ranges of sizes */

/* What is known of a block: the continuation of the list from it. */
enum known { UNKNOWN, ON_THE_WAY, BAD, LOST, WHOLE /* and the number of chunks from here to the end */ };

void xc_glibc_chains_init(struct xc_glibc_chains *chains, const struct xc_glibc *glibc, struct xc_window *window)
{
	*chains = (struct xc_glibc_chains){.glibc = glibc, .window = window};
}

void xc_glibc_chains_fini(struct xc_glibc_chains *chains)
{
	for (size_t i = 0; i < XC_COUNT(chains->known); i++)
		xc_reserve_free(&chains->known[i]);
}

static uint32_t *known_of(struct xc_glibc_chains *chains, unsigned slot)
{
	struct xc_reserve *known = &chains->known[slot >= SMALL_SLOTS];
	if (!known->items)
		*known = xc_reserve_new(chains->glibc->heap->blocks.count, sizeof(uint32_t));
	return known->items;
}

uint32_t xc_glibc_chain_block(const struct xc_glibc *glibc, xc_addr entry, unsigned slot)
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

static bool next(const struct xc_glibc_chains *chains, xc_addr *at)
{
	uint64_t stored;
	if (!xc_glibc_jump(chains->glibc, chains->window, *at, &stored))
		return false;
	*at = xc_glibc_unmangle(chains->glibc, *at, stored);
	return true;
}

/* Follows the unknown part and records that it was followed: the number of its chunks, and what is known of its
 * end. */
static uint32_t explore(struct xc_glibc_chains *chains, xc_addr at, unsigned slot, size_t *count_out)
{
	uint32_t *known = known_of(chains, slot);
	for (*count_out = 0; at; ++*count_out) {
		uint32_t block = xc_glibc_chain_block(chains->glibc, at, slot);
		if (block == XC_NO_BLOCK)
			return xc_glibc_is_lost(chains->glibc, at) ? LOST : BAD;
		if (known[block])
			return known[block] == ON_THE_WAY ? BAD : known[block]; /* a circle */
		if (!next(chains, &at))
			return xc_glibc_is_lost(chains->glibc, at) ? LOST : BAD;
		known[block] = ON_THE_WAY;
	}
	return WHOLE;
}

long xc_glibc_chain(struct xc_glibc_chains *chains, xc_addr entry, unsigned slot)
{
	size_t count;
	if (entry == 0)
		return 0;
	uint32_t *known = known_of(chains, slot), end = explore(chains, entry, slot, &count);
	xc_addr at = entry;
	for (size_t i = 0; i < count; i++) {
		uint32_t block = xc_glibc_chain_block(chains->glibc, at, slot);
		known[block] = end < WHOLE ? end : end + (uint32_t)(count - i);
		next(chains, &at);
	}
	if (end < WHOLE)
		return end == LOST ? XC_GLIBC_CHAIN_LOST : XC_GLIBC_CHAIN_BAD;
	uint64_t all = (uint64_t)(end - WHOLE) + count;
	return all <= XC_GLIBC_CHAIN_MAX ? (long)all : XC_GLIBC_CHAIN_BAD;
}

bool xc_glibc_chain_mark(struct xc_glibc_chains *chains, xc_addr entry, unsigned slot)
{
	for (xc_addr at = entry; at;) {
		uint32_t block = xc_glibc_chain_block(chains->glibc, at, slot);
		if (block == XC_NO_BLOCK)
			return !xc_glibc_is_lost(chains->glibc, at);
		if (!next(chains, &at))
			break;
		xc_blocks_set_state(&chains->glibc->heap->blocks, block, XC_BLOCK_CACHED);
	}
	return true;
}
