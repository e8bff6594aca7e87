/* accounts: a program that logs all its blocks, as reported by its malloc, and the check of the block table against
 * that log.
 *
 * Threads allocate blocks of all sizes and alignments, free many of them and some of their neighbours' blocks, and
 * wait. Then the program dies. `account` has the malloc_usable_size of each block and whether it is still live. */
#ifndef XC_TEST_ACCOUNTS_H
#define XC_TEST_ACCOUNTS_H

#include <stdio.h>

#include "dwarf/elf/symbol.h"
#include "heap/blocks/allocator.h"
#include "heap/session/session.h"
#include "tests/support/opened.h"

enum { ACCOUNT_THREADS = 4, ACCOUNT_ROWS = 4000 };

struct account_row {
	uint64_t addr, size, live;
};

static const char account_program[] =
	"#define _GNU_SOURCE\n"
	"#include <malloc.h>\n"
	"#include <pthread.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <unistd.h>\n"
	"enum { THREADS = 4, ROWS = 4000 };\n"
	"struct row { char *addr; size_t size, live; } account[THREADS][ROWS];\n"
	"#ifdef TCMALLOC\n"
	"int MallocExtension_GetNumericProperty(const char *, size_t *);\n"
	"size_t thread_cached, transfer_cached, allocated;\n"
	"#endif\n"
	"static pthread_barrier_t together;\n"
	"static unsigned any(unsigned *seed, unsigned below)\n"
	"{\n"
	"	*seed = *seed * 1103515245 + 12345;\n"
	"	return (*seed >> 8) % below;\n"
	"}\n"
	"static size_t a_size(unsigned *seed)\n"
	"{\n"
	"	unsigned kind = any(seed, 256);\n"
	"	return any(seed, kind == 0 ? 1500000 : kind < 4 ? 200000 : kind < 16 ? 20000 : "
	"kind < 64 ? 3000 : 300);\n"
	"}\n"
	"static void note(struct row *row, void *addr)\n"
	"{\n"
	"	row->addr = addr;\n"
	"	row->size = malloc_usable_size(addr);\n"
	"	row->live = 1;\n"
	"}\n"
	"static void take(struct row *row, unsigned *seed)\n"
	"{\n"
	"	size_t size = a_size(seed);\n"
	"	unsigned how = any(seed, 24);\n"
	"	char *addr = how == 0 ? memalign(16 << any(seed, 10), size) : how == 1 ? "
	"calloc(1, size) : malloc(size);\n"
	"	memset(addr, 'x', size);\n"
	"	if (how == 2)\n"
	"		addr = realloc(addr, a_size(seed) + 1);\n"
	"	note(row, addr);\n"
	"}\n"
	"static void give(struct row *row)\n"
	"{\n"
	"	if (row->live)\n"
	"		free(row->addr);\n"
	"	row->live = 0;\n"
	"}\n"
	"static void *work(void *argument)\n"
	"{\n"
	"	size_t self = (size_t)argument, next = (self + 1) % THREADS;\n"
	"	unsigned seed = 7 + self;\n"
	"	for (int round = 0; round < 3; round++) {\n"
	"		for (int i = 0; i < ROWS - 8; i++)\n"
	"			if (!account[self][i].live)\n"
	"				take(&account[self][i], &seed);\n"
	"		for (int i = 0; i < ROWS - 8; i++)\n"
	"			if (any(&seed, 16) < 6)\n"
	"				give(&account[self][i]);\n"
	"		pthread_barrier_wait(&together);\n"
	"		for (int i = 0; i < ROWS - 8; i++)\n"
	"			if (any(&seed, 16) == 0)\n"
	"				give(&account[next][i]);\n"
	"		pthread_barrier_wait(&together);\n"
	"	}\n"
	"	struct row *last = account[self] + ROWS - 8;\n"
	"	note(last++, malloc(0));\n"
	"	note(last++, malloc(1 << 20));\n"
	"	note(last++, malloc(3000001));\n"
	"	note(last++, malloc(17 << 20));\n"
	"	note(last++, memalign(2 << 20, 100));\n"
	"	note(last++, memalign(4 << 20, 3 << 20));\n"
	"	note(last++, malloc(131051));\n"
	"	note(last++, malloc(131052));\n"
	"	pthread_barrier_wait(&together);\n"
	"	for (int i = 0; i < ROWS - 8; i++)\n"
	"		if (any(&seed, 16) == 0)\n"
	"			give(&account[next][i]);\n"
	"	if (self == 1)\n"
	"		give(last - 5);\n"
	"	pthread_barrier_wait(&together);\n"
	"	if (self)\n"
	"		for (;;)\n"
	"			pause();\n"
	"	return 0;\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	pthread_barrier_init(&together, 0, THREADS);\n"
	"	for (size_t i = 1; i < THREADS; i++) {\n"
	"		pthread_t thread;\n"
	"		pthread_create(&thread, 0, work, (void *)i);\n"
	"	}\n"
	"	work(0);\n"
	"#ifdef TCMALLOC\n"
	"	MallocExtension_GetNumericProperty(\"tcmalloc.thread_cache_free_bytes\", &thread_cached);\n"
	"	MallocExtension_GetNumericProperty(\"tcmalloc.transfer_cache_free_bytes\", &transfer_cached);\n"
	"	MallocExtension_GetNumericProperty(\"generic.current_allocated_bytes\", &allocated);\n"
	"#endif\n"
	"	__builtin_trap();\n"
	"}\n";

/* A dead program and its heap. */
struct account {
	struct xc_process *process;
	struct xc_heap *heap;
	const struct xc_heap_part *part; /* of the allocator that the program uses */
	bool within_blocks;              /* the allocator cannot tell where in a block the returned pointer is */
	struct account_row rows[ACCOUNT_THREADS * ACCOUNT_ROWS];
};

/* Open the core of a program compiled from account_program that uses this allocator. The caller skips its part if the
 * allocator was not found. */
static inline struct account *account_open(const char *core, const struct xc_allocator *allocator)
{
	struct account *account = xc_alloc(sizeof *account);
	xc_addr rows;
	account->process = open_core(core);
	assert_non_null(xc_symbol_find(account->process, "account", NULL, &rows));
	CHECK_OK(xc_space_read(account->process->space, rows, account->rows, sizeof account->rows));
	account->heap = xc_heap_of(account->process, NULL);
	account->within_blocks = allocator == &xc_allocator_mimalloc;
	for (size_t i = 0; i < account->heap->part_count; i++)
		if (account->heap->parts[i].allocator == allocator)
			account->part = &account->heap->parts[i];
	return account;
}

static inline void account_close(struct account *account)
{
	xc_heap_forget(account->process);
	close_process(account->process);
	free(account);
}

/* A number logged by the program. */
static inline uint64_t account_number(const struct account *account, const char *name)
{
	uint64_t number;
	xc_addr addr;
	assert_non_null(xc_symbol_find(account->process, name, NULL, &addr));
	CHECK_OK(xc_space_uint(account->process->space, addr, 8, &number));
	return number;
}

/* The size in the table for a malloc_usable_size. */
static inline uint64_t account_size(uint64_t usable)
{
	return usable ? usable : 1;
}

/* Is the block of this row live? */
static inline bool account_holds(const struct account *account, uint32_t block)
{
	xc_addr lo = xc_block_addr(&account->heap->blocks, block), size = xc_block_size(&account->heap->blocks, block);
	for (size_t i = 0; i < XC_COUNT(account->rows); i++)
		if (account->rows[i].live && account->rows[i].addr - lo < size)
			return true;
	return false;
}

/* Does the table agree with a row? An overwritten header leaves its block unknown; the table then makes no claim about
 * it. */
static inline bool account_agrees(const struct account *account, const struct account_row *row)
{
	const struct xc_blocks *blocks = &account->heap->blocks;
	uint32_t block = xc_blocks_find(blocks, row->addr);
	if (!row->live)
		return block == XC_NO_BLOCK || xc_block_addr(blocks, block) != row->addr ||
		       xc_block_state(blocks, block) != XC_BLOCK_LIVE ||
		       (account->within_blocks && account_holds(account, block));
	if (block == XC_NO_BLOCK || xc_block_state(blocks, block) != XC_BLOCK_LIVE)
		return false;
	xc_addr addr = xc_block_addr(blocks, block);
	return (addr == row->addr || account->within_blocks) &&
	       addr + xc_block_size(blocks, block) == row->addr + account_size(row->size);
}

static inline int account_order(const void *a, const void *b)
{
	const struct account_row *x = a, *y = b;
	return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : (int)y->live - (int)x->live;
}

/* Drop freed rows if their address was allocated again. Sorts the rows by address. */
static inline bool account_stale(const struct account *account, size_t i)
{
	return i > 0 && !account->rows[i].live && account->rows[i - 1].addr == account->rows[i].addr;
}

/* Every row agrees with the table. At most `others` live blocks have no row (blocks of the C library and of
 * threads). */
static inline void account_check(struct account *account, size_t others)
{
	size_t count = ACCOUNT_THREADS * ACCOUNT_ROWS, live = 0, wrong = 0;
	if (!account->part)
		fail_msg("%s", xc_heap_why_empty(account->heap));
	for (size_t i = 0; i < account->heap->arena_count; i++)
		print_message("%s: %s\n", account->heap->arenas[i].name, account->heap->arenas[i].evidence);
	qsort(account->rows, count, sizeof *account->rows, account_order);
	for (size_t i = 0; i < count; i++) {
		const struct account_row *row = &account->rows[i];
		live += row->live != 0;
		if (!account_stale(account, i) && !account_agrees(account, row) && wrong++ < 5) {
			uint32_t block = xc_blocks_find(&account->heap->blocks, row->addr);
			print_message("%s 0x%llx size %llu", row->live ? "live" : "free", (unsigned long long)row->addr,
				      (unsigned long long)row->size);
			if (block == XC_NO_BLOCK)
				print_message(": no block\n");
			else
				print_message(": block 0x%llx size %llu %s\n",
					      (unsigned long long)xc_block_addr(&account->heap->blocks, block),
					      (unsigned long long)xc_block_size(&account->heap->blocks, block),
					      xc_block_state_word(xc_block_state(&account->heap->blocks, block)));
		}
	}
	struct xc_heap_totals totals = xc_heap_totals(account->heap);
	print_message("%zu rows, %zu live, %zu wrong; %llu live blocks, %zu blocks; %zu damages\n", count, live, wrong,
		      (unsigned long long)totals.count[XC_BLOCK_LIVE], account->heap->blocks.count,
		      account->heap->damage_count);
	assert_int_equal(wrong, 0);
	assert_in_range(totals.count[XC_BLOCK_LIVE], live, live + others);
	assert_int_equal(totals.count[XC_BLOCK_UNKNOWN], 0);
	assert_int_equal(account->heap->damage_count, 0);
	assert_int_equal(account->heap->blocks.left_out, 0);
}

/* Overwrite bytes of the process in its core file. Returns false if they are not stored there. */
static inline bool account_overwrite(const struct account *account, const char *core, xc_addr addr, const void *bytes,
				     size_t len)
{
	const struct xc_segment *segment = xc_space_find(account->process->space, addr);
	if (!segment || segment->provenance != XC_FROM_CORE || !segment->bytes || segment->hi - addr < len - 1)
		return false;
	FILE *file = fopen(core, "r+");
	assert_non_null(file);
	fseek(file, (long)(segment->bytes - account->process->core->bytes) + (long)(addr - segment->lo), SEEK_SET);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
	return true;
}

/* The number of rows that disagree with the table. */
static inline size_t account_wrong(struct account *account)
{
	size_t count = ACCOUNT_THREADS * ACCOUNT_ROWS, wrong = 0;
	qsort(account->rows, count, sizeof *account->rows, account_order);
	for (size_t i = 0; i < count; i++)
		wrong += !account_stale(account, i) && !account_agrees(account, &account->rows[i]);
	return wrong;
}

static inline uint64_t account_any(uint64_t below)
{
	static uint64_t seed = 20261121;
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % below;
}

/* A memory range that may hold the allocator's data. */
static inline void account_somewhere(const struct account *account, xc_addr *lo_out, uint64_t *size_out)
{
	const struct xc_heap *heap = account->heap;
	const struct xc_process *process = account->process;
	const struct xc_mapping *m = &process->mappings[account_any(process->mapping_count)];
	if (heap->region_count && account_any(2)) {
		const struct xc_region *region = &heap->regions[account_any(heap->region_count)];
		*lo_out = region->lo;
		*size_out = region->hi - region->lo + 1;
		return;
	}
	while (!m->writable)
		m = &process->mappings[account_any(process->mapping_count)];
	*lo_out = m->lo;
	*size_out = m->hi - m->lo + 1;
}

enum { ACCOUNT_HITS = 16, ACCOUNT_HEAPS = 8 };

/* The original bytes at an overwritten place of the core. */
struct account_hit {
	xc_addr addr;
	size_t len;
	char was[8];
};

/* Overwrite up to 8 bytes at a random place with random bytes or with an address-like value. */
static inline bool account_hit(const struct account *account, const char *core, struct account_hit *hit)
{
	xc_addr lo;
	uint64_t size, junk = account_any(UINT64_MAX);
	account_somewhere(account, &lo, &size);
	hit->addr = (lo + account_any(account_any(3) && size > 8192 ? 8192 : size)) & ~UINT64_C(7);
	hit->len = 1 + account_any(8);
	if (account_any(4) == 0)
		junk = lo + account_any(size);
	return xc_space_peek(account->process->space, hit->addr, hit->was, sizeof hit->was) == sizeof hit->was &&
	       account_overwrite(account, core, hit->addr, &junk, hit->len);
}

/* Add damage after damage to the allocator's data: opening the heap must always end cleanly. The core is restored every
 * few heaps. */
static inline void account_mutate(const char *core, const struct xc_allocator *allocator, size_t rounds)
{
	struct account_hit hits[ACCOUNT_HITS * ACCOUNT_HEAPS];
	size_t count = 0, found = 0, worst = 0;
	rounds -= rounds % ACCOUNT_HEAPS;
	for (size_t round = 0; round < rounds; round++) {
		struct account *account = account_open(core, allocator);
		size_t wrong = account->part ? account_wrong(account) : 0;
		found += account->part != NULL;
		worst = wrong > worst ? wrong : worst;
		for (unsigned i = 0; i < ACCOUNT_HITS && round % ACCOUNT_HEAPS < ACCOUNT_HEAPS - 1; i++)
			count += account_hit(account, core, &hits[count]);
		while (count && round % ACCOUNT_HEAPS == ACCOUNT_HEAPS - 1) {
			const struct account_hit *hit = &hits[--count];
			assert_true(account_overwrite(account, core, hit->addr, hit->was, hit->len));
		}
		account_close(account);
	}
	struct account *account = account_open(core, allocator);
	print_message("found in %zu of %zu damaged processes; at worst %zu of %zu blocks wrong\n", found, rounds, worst,
		      XC_COUNT(account->rows));
	assert_int_equal(account_wrong(account), 0);
	account_close(account);
}

/* A random small block of this state that is linked to another one. */
static inline uint32_t account_linked(const struct account *account, enum xc_block_state wanted)
{
	const struct xc_blocks *blocks = &account->heap->blocks;
	for (;;) {
		uint32_t block = (uint32_t)account_any(blocks->count);
		uint64_t word;
		if (xc_block_state(blocks, block) == wanted && xc_block_size(blocks, block) < 1000 &&
		    xc_space_peek_uint(account->process->space, xc_block_addr(blocks, block), 8, &word) && word)
			return block;
	}
}

static inline uint64_t account_blocks(const struct xc_heap_totals *totals)
{
	uint64_t count = 0;
	for (unsigned i = 0; i < XC_BLOCK_STATES; i++)
		count += totals->count[i];
	return count;
}

/* Overwrite the links of free blocks, one at a time. Each damage must be reported. Returns how often more than 2 blocks
 * were lost. */
static inline unsigned account_smash_links(const char *core, const struct xc_allocator *allocator,
					   enum xc_block_state state, size_t rounds)
{
	unsigned more = 0;
	while (rounds--) {
		struct account *account = account_open(core, allocator);
		struct xc_heap_totals before = xc_heap_totals(account->heap);
		xc_addr addr = xc_block_addr(&account->heap->blocks, account_linked(account, state));
		uint64_t was;
		assert_true(xc_space_peek_uint(account->process->space, addr, 8, &was));
		assert_true(account_overwrite(account, core, addr, "past the", 8));
		account_close(account);

		account = account_open(core, allocator);
		struct xc_heap_totals after = xc_heap_totals(account->heap);
		assert_int_equal(account->heap->damage_count, 1);
		assert_int_equal(account->heap->damages[0].addr, addr);
		assert_int_equal(account->heap->blocks.count, account_blocks(&before));
		more += after.count[XC_BLOCK_LIVE] - before.count[XC_BLOCK_LIVE] > 2;
		assert_true(account_overwrite(account, core, addr, &was, 8));
		account_close(account);
	}
	return more;
}

/* Every block is in a region, and explain describes it. */
static inline void account_check_regions(const struct account *account)
{
	const struct xc_blocks *blocks = &account->heap->blocks;
	const struct xc_heap_part *part = account->part;
	for (uint32_t i = 0; i < blocks->count; i++) {
		xc_addr lo = xc_block_addr(blocks, i);
		const struct xc_region *region = xc_heap_region(account->heap, lo);
		struct xc_text text = {0};
		assert_non_null(region);
		assert_true(xc_inside(lo, xc_block_size(blocks, i), region->lo, region->hi));
		if (i % 97 == 0)
			part->allocator->explain(account->heap, part->state, i, &text);
		if (i % 97 == 0 && !text.len)
			fail_msg("nothing is known about the block at 0x%llx", (unsigned long long)lo);
		xc_text_fini(&text);
	}
	for (size_t i = 1; i < account->heap->region_count; i++)
		assert_true(account->heap->regions[i - 1].hi < account->heap->regions[i].lo);
}

#endif
