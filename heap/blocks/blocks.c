/* The table is made by merging lists that rarely overlap. As long as one list lies below all others, its blocks are
 * copied as one run. Then one pass over the table sets the bits of the directory:
 *
 *	address   | table: addr >> 32 | leaf: 12 + granule_bits bits below | word: 6 | bit: 6 | in the granule |
 *
 * A range of a leaf's size in which no block begins or ends needs no leaf: its entry names the block that covers
 * it, or nothing. Tables whose 4 GiB all lie in one block are one shared table. */
#include "heap/blocks/blocks.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

void xc_block_list_init(struct xc_block_list *list, size_t most)
{
	*list = (struct xc_block_list){.most = most < XC_BLOCKS_MAX ? most : XC_BLOCKS_MAX};
	list->memory[0] = xc_reserve_new(list->most, sizeof *list->heads);
	list->memory[1] = xc_reserve_new(list->most, sizeof *list->sizes);
	list->heads = list->memory[0].items;
	list->sizes = list->memory[1].items;
}

void xc_block_list_fini(struct xc_block_list *list)
{
	for (size_t i = 0; i < XC_COUNT(list->memory); i++)
		xc_reserve_free(&list->memory[i]);
	free(list->huge);
	*list = (struct xc_block_list){0};
}

bool xc_block_list_add_slow(struct xc_block_list *list, xc_addr addr, uint64_t size, enum xc_block_state state)
{
	const uint64_t space = UINT64_C(1) << XC_BLOCK_ADDRESS_BITS;
	if (list->count >= list->most)
		return false;
	if (addr & 7 || addr < list->end || addr >= space || size == 0 || size > space - addr) {
		list->left_out++;
		return true;
	}
	if (size >= UINT32_MAX) {
		list->huge = xc_grow(list->huge, list->huge_count, &list->huge_capacity, sizeof *list->huge);
		list->huge[list->huge_count++] = (struct xc_block_huge){(uint32_t)list->count, size};
	}
	list->heads[list->count] = addr | state;
	list->sizes[list->count++] = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	list->end = addr + size;
	return true;
}

void xc_block_list_cut(struct xc_block_list *list, xc_addr addr)
{
	while (list->count && (list->heads[list->count - 1] & ~(uint64_t)7) >= addr)
		list->count--;
	while (list->huge_count && list->huge[list->huge_count - 1].block >= list->count)
		list->huge_count--;
	list->end = 0;
	if (list->count == 0)
		return;
	bool huge = list->sizes[list->count - 1] == UINT32_MAX && list->huge_count;
	list->end = (list->heads[list->count - 1] & ~(uint64_t)7) +
		    (huge ? list->huge[list->huge_count - 1].size : list->sizes[list->count - 1]);
}

/* ---- merging ---- */

/* A list being merged, and the next block to take. */
struct run {
	const struct xc_block_list *list;
	size_t next, huge;
	size_t released; /* blocks before this one, whose memory was given back */
};

struct merge {
	struct xc_blocks *blocks;
	struct run *runs; /* by the address of the next block */
	size_t run_count;
	uint64_t *heads;
	uint32_t *sizes;
	size_t huge_capacity;
	xc_addr end; /* end of the last block taken */
};

static xc_addr next_addr(const struct run *run)
{
	return run->list->heads[run->next];
}

static int by_next(const void *a, const void *b)
{
	uint64_t x = next_addr(a), y = next_addr(b);
	return x < y ? -1 : x > y;
}

static uint64_t next_size(struct run *run)
{
	const struct xc_block_list *list = run->list;
	uint32_t size = list->sizes[run->next];
	while (run->huge < list->huge_count && list->huge[run->huge].block < run->next)
		run->huge++;
	return size == UINT32_MAX && run->huge < list->huge_count ? list->huge[run->huge].size : size;
}

/* Takes one block: the first of a run, or a large one. */
static void take_one(struct merge *m, struct run *run)
{
	struct xc_blocks *blocks = m->blocks;
	xc_addr addr = next_addr(run) & ~(uint64_t)7;
	uint64_t size = next_size(run);
	if (addr < m->end || blocks->count >= XC_BLOCKS_MAX) {
		blocks->left_out++;
		run->next++;
		return;
	}
	if (run->list->sizes[run->next] == UINT32_MAX) {
		blocks->huge = xc_grow(blocks->huge, blocks->huge_count, &m->huge_capacity, sizeof *blocks->huge);
		blocks->huge[blocks->huge_count++] = (struct xc_block_huge){(uint32_t)blocks->count, size};
	}
	m->heads[blocks->count] = run->list->heads[run->next];
	m->sizes[blocks->count++] = run->list->sizes[run->next++];
	m->end = addr + size;
}

enum { PIECE = 1 << 18, SMALL = 1 << 12 };

/* Gives back the memory of blocks that were taken: a large heap is not held twice. */
static void release(struct run *run)
{
	const struct xc_block_list *list = run->list;
	size_t count = run->next - run->released;
	if (count < (run->next == list->count ? SMALL : PIECE))
		return;
	xc_reserve_drop(&list->memory[0], run->released, run->next, sizeof *list->heads);
	xc_reserve_drop(&list->memory[1], run->released, run->next, sizeof *list->sizes);
	run->released = run->next;
}

/* Copies blocks, piece by piece. */
static void move_blocks(struct merge *m, struct run *run, size_t count)
{
	while (count > 0) {
		size_t piece = count < PIECE ? count : PIECE;
		memcpy(m->heads + m->blocks->count, run->list->heads + run->next, piece * sizeof *m->heads);
		memcpy(m->sizes + m->blocks->count, run->list->sizes + run->next, piece * sizeof *m->sizes);
		m->blocks->count += piece;
		run->next += piece;
		count -= piece;
		release(run);
	}
}

/* Takes all blocks up to the next large one, if no other list has a block between them. */
static void take_rest(struct merge *m, struct run *run)
{
	const struct xc_block_list *list = run->list;
	size_t last = list->huge_count > run->huge ? list->huge[run->huge].block : list->count;
	size_t count = last > run->next ? last - run->next : 0;
	if (count == 0 || (next_addr(run) & ~(uint64_t)7) < m->end || count > XC_BLOCKS_MAX - m->blocks->count) {
		take_one(m, run);
		return;
	}
	move_blocks(m, run, count);
	m->end = (m->heads[m->blocks->count - 1] & ~(uint64_t)7) + m->sizes[m->blocks->count - 1];
}

/* The first run has advanced: moves it to its new place, or removes it. */
static void put_back(struct merge *m)
{
	struct run moved = m->runs[0];
	bool done = moved.next == moved.list->count;
	size_t at = 0;
	while (at + 1 < m->run_count && (done || next_addr(&m->runs[at + 1]) < next_addr(&moved))) {
		m->runs[at] = m->runs[at + 1];
		at++;
	}
	if (done)
		m->run_count--;
	else
		m->runs[at] = moved;
}

/* Takes the part of the first run that lies below the second run. */
static void take_run(struct merge *m)
{
	struct run *first = &m->runs[0];
	xc_addr limit = m->run_count > 1 ? next_addr(&m->runs[1]) : UINT64_MAX;
	bool all = first->next < first->list->count && first->list->heads[first->list->count - 1] < limit;
	while (first->next < first->list->count && (all || next_addr(first) <= limit))
		if (all)
			take_rest(m, first);
		else
			take_one(m, first);
	release(first);
	put_back(m);
}

static void merge(struct xc_blocks *blocks, const struct xc_block_list *lists, size_t list_count)
{
	struct merge m = {.blocks = blocks, .runs = xc_alloc((list_count + 1) * sizeof *m.runs)};
	size_t total = 0;
	for (size_t i = 0; i < list_count; i++) {
		blocks->left_out += lists[i].left_out;
		total += lists[i].count;
		if (lists[i].count)
			m.runs[m.run_count++].list = &lists[i];
	}
	total = total < XC_BLOCKS_MAX ? total : XC_BLOCKS_MAX;
	blocks->memory[0] = xc_reserve_new(total, sizeof *m.heads);
	blocks->memory[1] = xc_reserve_new(total, sizeof *m.sizes);
	blocks->heads = m.heads = blocks->memory[0].items;
	blocks->sizes = m.sizes = blocks->memory[1].items;
	qsort(m.runs, m.run_count, sizeof *m.runs, by_next);
	while (m.run_count)
		take_run(&m);
	free(m.runs);
}

/* ---- the directory ---- */

struct directory {
	struct xc_blocks *blocks;
	struct xc_block_leaf *leaves;
	unsigned leaf_bits; /* of an address, below a leaf's number */
	uint64_t inside;    /* ranges of 4 GiB that share a table */
	uint64_t last;      /* number of the range of the newest leaf */
	struct xc_block_leaf *leaf;
};

static uint32_t *new_table(struct directory *d)
{
	d->blocks->table_count++;
	return xc_alloc(sizeof(uint32_t) << (32 - d->leaf_bits));
}

/* The entry of a range. Makes the range's table on first use. */
static uint32_t *entry_of(struct directory *d, uint64_t range)
{
	unsigned table_bits = 32 - d->leaf_bits;
	uint32_t **table = &d->blocks->tables[range >> table_bits];
	if (!*table)
		*table = new_table(d);
	return *table + (range & ((UINT64_C(1) << table_bits) - 1));
}

/* Ranges from `range` to `last` lie inside one block. Whole tables are shared. */
static void fill_inside(struct directory *d, uint64_t range, uint64_t last, uint32_t entry)
{
	unsigned table_bits = 32 - d->leaf_bits;
	const uint64_t whole = UINT64_C(1) << table_bits;
	uint32_t *shared = NULL;
	while (range <= last) {
		if (range % whole || last - range < whole - 1) {
			*entry_of(d, range++) = entry;
			continue;
		}
		if (!shared) {
			shared = new_table(d);
			for (uint64_t i = 0; i < whole; i++)
				shared[i] = entry;
		}
		d->blocks->tables[range >> table_bits] = shared;
		range += whole;
	}
}

/* Makes the newest leaf, for a range; `before` blocks begin below it. Ranges come in ascending order. */
static void open_leaf(struct directory *d, uint64_t range, uint32_t before)
{
	if (d->leaf && d->last == range)
		return;
	d->leaf = &d->leaves[d->blocks->leaf_count];
	*entry_of(d, range) = (uint32_t)++d->blocks->leaf_count;
	d->last = range;
	d->leaf->rank[0] = before;
}

/* Is there room to enter the block? A core may claim any amount of memory, and that must not cost any. */
static bool has_room(struct directory *d, uint64_t first_table, uint64_t last_table)
{
	uint64_t fresh = d->blocks->tables[first_table] ? 0 : 1;
	if (first_table != last_table) {
		uint64_t within = last_table - first_table - 1;
		fresh += within ? 2 : 1;
		if (within > XC_BLOCK_RANGES_MAX - d->inside)
			return false;
		d->inside += within;
	}
	return fresh <= XC_BLOCK_TABLES_MAX - d->blocks->table_count;
}

/* Enters one block. False if that would cost too much. */
static bool enter(struct directory *d, uint32_t block, xc_addr lo, uint64_t size)
{
	const struct xc_blocks *blocks = d->blocks;
	xc_addr hi = lo + size - 1;
	uint64_t first = lo >> d->leaf_bits, last = hi >> d->leaf_bits;
	if (!has_room(d, lo >> 32, hi >> 32))
		return false;
	open_leaf(d, first, block);
	unsigned granule = (lo >> blocks->granule_bits) & ((1U << XC_BLOCK_LEAF_BITS) - 1);
	d->leaf->bits[granule >> 6] |= UINT64_C(1) << (granule & 63);
	if (first == last)
		return true;
	fill_inside(d, first + 1, last - 1, XC_BLOCK_INSIDE | block);
	open_leaf(d, last, block + 1);
	return true;
}

/* Enters all blocks, and removes from the table those without room. */
static void enter_all(struct directory *d)
{
	struct xc_blocks *blocks = d->blocks;
	uint64_t *heads = blocks->memory[0].items;
	uint32_t *sizes = blocks->memory[1].items;
	size_t kept = 0, huge = 0, kept_huge = 0;
	for (size_t i = 0; i < blocks->count; i++) {
		bool is_huge = sizes[i] == UINT32_MAX;
		uint64_t size = is_huge ? blocks->huge[huge++].size : sizes[i];
		if (!enter(d, (uint32_t)kept, heads[i] & ~(uint64_t)7, size))
			continue;
		if (is_huge)
			blocks->huge[kept_huge++] = (struct xc_block_huge){(uint32_t)kept, size};
		heads[kept] = heads[i];
		sizes[kept++] = sizes[i];
	}
	blocks->left_out += blocks->count - kept;
	blocks->count = kept;
	blocks->huge_count = kept_huge;
}

static void count_ranks(struct xc_block_leaf *leaves, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned word = 1; word < XC_BLOCK_WORDS; word++)
			leaves[i].rank[word] =
				leaves[i].rank[word - 1] + (uint32_t)__builtin_popcountll(leaves[i].bits[word - 1]);
}

/* The most leaves that the table can have: two for each block, and no more than its range holds. */
static size_t most_leaves(const struct xc_blocks *blocks, unsigned leaf_bits)
{
	uint64_t ranges = (blocks->hi >> leaf_bits) - (blocks->lo >> leaf_bits) + 1;
	return ranges < 2 * blocks->count ? ranges : 2 * blocks->count;
}

static void build_directory(struct xc_blocks *blocks)
{
	uint64_t low = 0;
	if (blocks->count == 0)
		return;
	for (size_t i = 0; i < blocks->count; i++)
		low |= blocks->heads[i] & 8;
	blocks->granule_bits = low ? 3 : 4;
	struct directory d = {.blocks = blocks, .leaf_bits = XC_BLOCK_LEAF_BITS + blocks->granule_bits};
	blocks->memory[2] = xc_reserve_new(most_leaves(blocks, d.leaf_bits), sizeof *d.leaves);
	blocks->memory[3] = xc_reserve_new((blocks->hi >> 32) + 1, sizeof *blocks->tables);
	blocks->leaves = d.leaves = blocks->memory[2].items;
	blocks->tables = blocks->memory[3].items;
	enter_all(&d);
	count_ranks(d.leaves, blocks->leaf_count);
	xc_reserve_trim(&blocks->memory[2], blocks->leaf_count, sizeof *d.leaves);
}

static void set_bounds(struct xc_blocks *blocks)
{
	if (blocks->count == 0)
		return;
	uint32_t last = (uint32_t)blocks->count - 1;
	blocks->lo = xc_block_addr(blocks, 0);
	blocks->hi = xc_block_addr(blocks, last) + xc_block_size(blocks, last) - 1;
}

void xc_blocks_build(struct xc_blocks *blocks, const struct xc_block_list *lists, size_t list_count)
{
	*blocks = (struct xc_blocks){.lo = 1};
	merge(blocks, lists, list_count);
	set_bounds(blocks);
	build_directory(blocks);
	set_bounds(blocks);
}

void xc_blocks_fini(struct xc_blocks *blocks)
{
	size_t tables = blocks->tables ? blocks->memory[3].size / sizeof *blocks->tables : 0;
	for (size_t i = 0; i < tables && blocks->table_count; i++)
		if (blocks->tables[i] && (i + 1 == tables || blocks->tables[i + 1] != blocks->tables[i])) {
			free(blocks->tables[i]);
			blocks->table_count--;
		}
	for (size_t i = 0; i < XC_COUNT(blocks->memory); i++)
		xc_reserve_free(&blocks->memory[i]);
	free(blocks->huge);
	*blocks = (struct xc_blocks){.lo = 1};
}

void xc_blocks_set_state(struct xc_blocks *blocks, uint32_t block, enum xc_block_state state)
{
	uint64_t *heads = blocks->memory[0].items;
	heads[block] = (heads[block] & ~(uint64_t)7) | state;
}

/* ---- asking ---- */

uint64_t xc_block_huge_size(const struct xc_blocks *blocks, uint32_t block)
{
	size_t lo = XC_LOWER_BOUND(blocks->huge_count, i, blocks->huge[i].block < block);
	return lo < blocks->huge_count && blocks->huge[lo].block == block ? blocks->huge[lo].size : 0;
}

uint32_t xc_blocks_from(const struct xc_blocks *blocks, xc_addr addr)
{
	return (uint32_t)XC_LOWER_BOUND(blocks->count, i, xc_block_addr(blocks, (uint32_t)i) < addr);
}

const char *xc_block_state_word(enum xc_block_state state)
{
	return state == XC_BLOCK_LIVE ? "live" : xc_block_is_free(state) ? "free" : "unknown";
}

const char *xc_block_free_word(enum xc_block_state state)
{
	static const char *const words[XC_BLOCK_STATES] = {
		[XC_BLOCK_CACHED] = "tcache",
		[XC_BLOCK_FAST] = "fastbin",
		[XC_BLOCK_BIN] = "bin",
		[XC_BLOCK_TOP] = "top",
	};
	return state < XC_BLOCK_STATES ? words[state] : NULL;
}
