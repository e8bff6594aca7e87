/* blocks: all blocks of all heaps of a process in one sorted table, with lookup of the block at an address.
 *
 * A block is what an allocator returns: `addr` is the result of malloc, `size` the result of malloc_usable_size, to
 * the byte. With musl that is the requested size. A block of no bytes counts as 1 byte, so that it can be found.
 * Free blocks are in the table too. A block is identified by its index, in address order. Blocks never overlap.
 *
 * The table costs 12 bytes a block. A directory of bitmaps belongs to it: a bit for each granule (16 bytes, or 8
 * where an allocator aligns less) in which a block begins, 64 bits together with the number of blocks that begin
 * before them. So a lookup needs no search: it is the rank of the last bit at or below the address. The directory
 * costs 12 bytes for each KiB of heap (1.2 %), and nothing inside large blocks. Claims of a core cost little too: a
 * block of terabytes takes three tables of 256 KiB, regardless of its size, and there are at most
 * XC_BLOCK_TABLES_MAX tables. */
#ifndef XC_BLOCKS_H
#define XC_BLOCKS_H

#include "core/base/base.h"
#include "core/base/reserve.h"

enum xc_block_state {
	XC_BLOCK_LIVE,    /* allocated and not freed */
	XC_BLOCK_CACHED,  /* free: in the cache of a thread (tcache) */
	XC_BLOCK_FAST,    /* free: in a fastbin */
	XC_BLOCK_BIN,     /* free: in a bin, or an unused slot of a slab */
	XC_BLOCK_TOP,     /* free: the end of a segment, never allocated */
	XC_BLOCK_UNKNOWN, /* its header is damaged; it may be live */
	XC_BLOCK_STATES,  /* at most 8: the state is in the low bits of an address */
};

#define XC_NO_BLOCK UINT32_MAX

enum {
	XC_BLOCKS_MAX = INT32_MAX,     /* blocks of a process */
	XC_BLOCK_ADDRESS_BITS = 57,    /* addresses above belong to no block */
	XC_BLOCK_LEAF_BITS = 12,       /* granules of a leaf, log2 */
	XC_BLOCK_WORDS = 1 << 6,       /* words of 64 granules in a leaf */
	XC_BLOCK_TABLES_MAX = 1024,    /* tables of the directory; blocks that would need more are left out */
	XC_BLOCK_RANGES_MAX = 1 << 18, /* 4 GiB ranges inside blocks; likewise */
};

#define XC_BLOCK_INSIDE 0x80000000U /* in an entry: one block covers the leaf's whole range; the rest is its index */

/* Where blocks begin within 4,096 granules. */
struct xc_block_leaf {
	uint64_t bits[XC_BLOCK_WORDS];
	uint32_t rank[XC_BLOCK_WORDS]; /* index of the first block that begins in or after that word */
};

/* A block of 4 GiB or more. */
struct xc_block_huge {
	uint32_t block;
	uint64_t size;
};

struct xc_blocks {
	size_t count;
	const uint64_t *heads; /* address, with the state in the low three bits */
	const uint32_t *sizes; /* bytes; UINT32_MAX: see huge */
	struct xc_block_huge *huge;
	size_t huge_count;
	xc_addr lo, hi;        /* first and last byte of any block; lo > hi if there are none */
	unsigned granule_bits; /* 4, or 3 */
	uint32_t **tables;     /* by addr >> 32: leaf number + 1 by range of a leaf, or 0; NULL: empty; may be shared */
	size_t table_count;
	const struct xc_block_leaf *leaves;
	size_t leaf_count;
	size_t left_out; /* blocks that overlap others or have impossible addresses: damaged or hostile metadata */
	struct xc_reserve memory[4]; /* heads, sizes, leaves, tables */
};

/* ---- making a table ---- */

/* Blocks found by one walker, in ascending order. */
struct xc_block_list {
	uint64_t *heads;
	uint32_t *sizes;
	struct xc_block_huge *huge;
	size_t count, most, huge_count, huge_capacity;
	xc_addr end;     /* end of the last block */
	size_t left_out; /* see struct xc_blocks */
	struct xc_reserve memory[2];
};

/* Reserves address space, not memory, for up to `most` blocks. */
void xc_block_list_init(struct xc_block_list *list, size_t most);
void xc_block_list_fini(struct xc_block_list *list);
bool xc_block_list_add_slow(struct xc_block_list *list, xc_addr addr, uint64_t size, enum xc_block_state state);

/* Adds a block. addr is aligned to 8; size is in bytes, not 0. False if the list is full. A block that overlaps the
 * previous one, or has an impossible address or size, is left out and counted. */
static inline bool xc_block_list_add(struct xc_block_list *list, xc_addr addr, uint64_t size, enum xc_block_state state)
{
	if (__builtin_expect(addr < list->end || addr >> XC_BLOCK_ADDRESS_BITS || addr & 7 ||
				     size - 1 >= UINT32_MAX - 1 || list->count >= list->most,
			     0))
		return xc_block_list_add_slow(list, addr, size, state);
	list->heads[list->count] = addr | state;
	list->sizes[list->count++] = (uint32_t)size;
	list->end = addr + size;
	return true;
}

/* Removes all blocks that begin at or after addr. */
void xc_block_list_cut(struct xc_block_list *list, xc_addr addr);

/* Merges lists into one table. Lists may come in any order and may interleave. Of overlapping blocks the one that
 * begins first is kept and the other is counted. The lists lose their blocks, so that a large heap is not held twice,
 * but must be freed as before. About 4 ns a block. */
void xc_blocks_build(struct xc_blocks *blocks, const struct xc_block_list *lists, size_t list_count);
void xc_blocks_fini(struct xc_blocks *blocks);

/* Corrects a state after the table is made. Not while others read. */
void xc_blocks_set_state(struct xc_blocks *blocks, uint32_t block, enum xc_block_state state);

/* ---- asking ---- */

static inline xc_addr xc_block_addr(const struct xc_blocks *blocks, uint32_t block)
{
	return blocks->heads[block] & ~(uint64_t)7;
}

static inline enum xc_block_state xc_block_state(const struct xc_blocks *blocks, uint32_t block)
{
	return (enum xc_block_state)(blocks->heads[block] & 7);
}

uint64_t xc_block_huge_size(const struct xc_blocks *blocks, uint32_t block);

static inline uint64_t xc_block_size(const struct xc_blocks *blocks, uint32_t block)
{
	uint32_t size = blocks->sizes[block];
	return __builtin_expect(size == UINT32_MAX, 0) ? xc_block_huge_size(blocks, block) : size;
}

/* The block that contains addr (interior addresses included), or XC_NO_BLOCK. Two or three memory reads, no search. */
static inline uint32_t xc_blocks_find(const struct xc_blocks *blocks, xc_addr addr)
{
	if (addr < blocks->lo || addr > blocks->hi)
		return XC_NO_BLOCK;
	const uint32_t *table = blocks->tables[addr >> 32];
	if (!table)
		return XC_NO_BLOCK;
	uint64_t granule = (addr & UINT32_MAX) >> blocks->granule_bits;
	uint32_t entry = table[granule >> XC_BLOCK_LEAF_BITS], block;
	if (entry & XC_BLOCK_INSIDE)
		return entry & ~XC_BLOCK_INSIDE;
	if (!entry)
		return XC_NO_BLOCK;
	const struct xc_block_leaf *leaf = &blocks->leaves[entry - 1];
	unsigned word = (granule >> 6) & (XC_BLOCK_WORDS - 1), bit = granule & 63;
	uint64_t upto = leaf->bits[word] & (UINT64_MAX >> (63 - bit));
	block = leaf->rank[word] + (uint32_t)__builtin_popcountll(upto) - 1;
	if (block == XC_NO_BLOCK) /* below the first block */
		return XC_NO_BLOCK;
	return addr - xc_block_addr(blocks, block) < xc_block_size(blocks, block) ? block : XC_NO_BLOCK;
}

/* The first block that begins at or after addr; blocks->count if there is none. O(log n). */
uint32_t xc_blocks_from(const struct xc_blocks *blocks, xc_addr addr);

/* "live", "free" or "unknown": the word that `heap objects` prints. For free blocks "tcache", "fastbin", "bin" or
 * "top"; else NULL. */
const char *xc_block_state_word(enum xc_block_state state);
const char *xc_block_free_word(enum xc_block_state state);

static inline bool xc_block_is_free(enum xc_block_state state)
{
	return state >= XC_BLOCK_CACHED && state <= XC_BLOCK_TOP;
}

/* Is it free, and not memory that was never allocated? */
static inline bool xc_block_is_freed(enum xc_block_state state)
{
	return xc_block_is_free(state) && state != XC_BLOCK_TOP;
}

#endif
