/* layer: heap
 *
 * jemalloc against programs that log every block, and against its own statistics. The programs define malloc and its
 * relatives themselves and forward every call, so that the log includes libc's blocks. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "dwarf/elf/symbol.h"
#include "core/report/report.h"
#include "heap/report/audit.h"
#include "heap/allocators/jemalloc_impl.h"
#include "heap/session/session.h"
#include "tests/support/grid.h"
#include "tests/support/scratch.h"
#include "tests/support/opened.h"

static const char accounting[] =
	"#define _GNU_SOURCE\n#include <jemalloc/jemalloc.h>\n#include <errno.h>\n#include <pthread.h>\n"
	"#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
	"enum { ROWS = 1 << 20 };\n"
	"struct row { unsigned long addr, usable; } account[ROWS]; unsigned long rows = ROWS;\n"
	"static int lock;\n"
	"static struct row *find(unsigned long addr, int add) {\n"
	"	unsigned long at = addr * 0x9e3779b97f4a7c15 >> 44;\n"
	"	while (account[at].addr != addr && !(add && account[at].addr == 1) && (account[at].addr || !add))\n"
	"		at = (at + 1) % ROWS;\n"
	"	return &account[at]; }\n"
	"static void hold(void) { while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)); }\n"
	"static void let(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }\n"
	"static void *took(void *p) { if (p) { hold(); *find((long)p, 1) = (struct row){(long)p, sallocx(p, 0)}; "
	"let(); } "
	"return p; }\n"
	"static void gave(void *p) { hold(); find((long)p, 0)->addr = 1; let(); }\n"
	"static unsigned long sane(unsigned long n) { return n ? n : 1; }\n"
	"void *malloc(unsigned long n) { return took(mallocx(sane(n), 0)); }\n"
	"void *calloc(unsigned long n, unsigned long m) { return took(mallocx(sane(n * m), MALLOCX_ZERO)); }\n"
	"void free(void *p) { if (p) { gave(p); dallocx(p, 0); } }\n"
	"void *realloc(void *p, unsigned long n) { if (!p) return malloc(n); gave(p); return took(rallocx(p, sane(n), "
	"0)); }\n"
	"void *aligned_alloc(unsigned long a, unsigned long n) { return took(mallocx(sane(n), MALLOCX_ALIGN(a))); }\n"
	"void *memalign(unsigned long a, unsigned long n) { return aligned_alloc(a, n); }\n"
	"int posix_memalign(void **p, unsigned long a, unsigned long n) { *p = aligned_alloc(a, n); return 0; }\n"
	"unsigned long allocated, cached, internal;\n"
	"static unsigned long told(const char *name) { unsigned long v = 0, n = sizeof v;\n"
	"	if (mallctl(name, &v, &n, 0, 0)) _exit(3); return v; }\n"
	"static void die(void) { unsigned long one = 1;\n"
	"	if (mallctl(\"epoch\", 0, 0, &one, sizeof one)) _exit(4);\n"
	"	allocated = told(\"stats.allocated\");\n"
	"	cached = told(\"stats.arenas.4096.tcache_bytes\");\n"
	"	internal = told(\"stats.arenas.4096.internal\");\n"
	"	raise(SIGABRT); }\n";

/* Threads that allocate, move and free at random, including each other's blocks. Half of them end, the others wait. */
static const char shuffle[] =
	"enum { THREADS = 16, SLOTS = 800, STEPS = 8000 };\n"
	"static struct { void *p; pthread_mutex_t lock; } slots[THREADS * SLOTS];\n"
	"static pthread_barrier_t done;\n"
	"static unsigned long some(unsigned *seed) { unsigned r = rand_r(seed) % 1000;\n"
	"	return r < 700 ? rand_r(seed) % 300 : r < 990 ? rand_r(seed) % 9000 : r < 998 ? rand_r(seed) % 100000 "
	":\n"
	"	rand_r(seed) % 800000; }\n"
	"static void step(unsigned *seed, int own) {\n"
	"	int at = rand_r(seed) % 4 ? own * SLOTS + rand_r(seed) % SLOTS : rand_r(seed) % (THREADS * SLOTS);\n"
	"	pthread_mutex_lock(&slots[at].lock);\n"
	"	void *p = slots[at].p;\n"
	"	if (p && rand_r(seed) % 3) { free(p); p = 0; }\n"
	"	else if (p) p = realloc(p, some(seed));\n"
	"	else if (rand_r(seed) % 20 == 0) p = aligned_alloc(32 << rand_r(seed) % 12, some(seed));\n"
	"	else p = rand_r(seed) % 2 ? malloc(some(seed)) : calloc(1, some(seed));\n"
	"	slots[at].p = p; pthread_mutex_unlock(&slots[at].lock); }\n"
	"static void *run(void *number) { unsigned seed = 7 + (unsigned)(long)number;\n"
	"	for (int i = 0; i < STEPS; i++) step(&seed, (int)(long)number);\n"
	"	if ((long)number % 2) return 0;\n"
	"	pthread_barrier_wait(&done); for (;;) pause(); }\n"
	"int main(void) { pthread_t t[THREADS];\n"
	"	for (int i = 0; i < THREADS * SLOTS; i++) pthread_mutex_init(&slots[i].lock, 0);\n"
	"	pthread_barrier_init(&done, 0, THREADS / 2 + 1);\n"
	"	for (long i = 0; i < THREADS; i++) pthread_create(&t[i], 0, run, (void *)i);\n"
	"	for (long i = 1; i < THREADS; i += 2) pthread_join(t[i], 0);\n"
	"	pthread_barrier_wait(&done); die(); }\n";

/* Blocks of every class up to 20 MiB, every other one freed. */
static const char classes[] = "int main(void) { static void *kept[100000]; long n = 0;\n"
			      "	for (unsigned long size = 1; size < 20 << 20; size += size / 16 + 1)\n"
			      "		for (int i = 0; i < (size < 20000 ? 300 : 4); i++) kept[n++] = malloc(size);\n"
			      "	for (long i = 0; i < n; i += 2) free(kept[i]);\n"
			      "	die(); }\n";

/* A small heap: a tree with a handful of extents. */
static const char few[] = "int main(void) { malloc(100); free(malloc(5000)); die(); }\n";

#define PROGRAM "gcc -x c -g -pthread -Wl,--no-as-needed -ljemalloc"

static const char *build(const char *name, const char *compiler, const char *body)
{
	char *source = xc_asprintf("%s%s", accounting, body);
	const char *program = dying_program(name, compiler, source);
	free(source);
	return program;
}

/* A core with the registers of all threads. */
static const char *core_of(const char *program)
{
	const char *core = scratch_path("core-of-jemalloc");
	char *command =
		xc_asprintf("corpora/take-core --out %s -- %s >/dev/null", scratch_word(core), scratch_word(program));
	if (system(command) != 0)
		fail_msg("failed: %s", command);
	free(command);
	return core;
}

static uint64_t number(const struct xc_process *process, const char *name)
{
	xc_addr addr;
	uint64_t value;
	assert_non_null(xc_symbol_find(process, name, NULL, &addr));
	assert_true(xc_space_peek_uint(process->space, addr, 8, &value));
	return value;
}

struct row {
	uint64_t addr, usable;
};

static void check_row(const struct xc_heap *heap, const struct row *row)
{
	uint32_t block = xc_blocks_find(&heap->blocks, row->addr);
	if (block == XC_NO_BLOCK || xc_block_addr(&heap->blocks, block) != row->addr)
		fail_msg("no block begins at 0x%" PRIx64, row->addr);
	if (xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE)
		fail_msg("0x%" PRIx64 " is not live", row->addr);
	if (xc_block_size(&heap->blocks, block) != row->usable)
		fail_msg("0x%" PRIx64 " has %" PRIu64 " bytes instead of %" PRIu64, row->addr,
			 xc_block_size(&heap->blocks, block), row->usable);
}

/* Each row is a live block of that size, no other block is live, and jemalloc's own sums equal ours. */
static void check_account(const struct xc_heap *heap)
{
	const struct xc_process *process = heap->process;
	uint64_t count = number(process, "rows"), live = 0;
	struct row *rows = xc_alloc(count * sizeof *rows);
	xc_addr account;
	assert_non_null(xc_symbol_find(process, "account", NULL, &account));
	assert_int_equal(xc_space_peek(process->space, account, rows, count * sizeof *rows), count * sizeof *rows);
	for (uint64_t i = 0; i < count; i++)
		if (rows[i].addr > 1) {
			check_row(heap, &rows[i]);
			live++;
		}
	free(rows);
	struct xc_heap_totals totals = xc_heap_totals(heap);
	assert_int_equal(totals.count[XC_BLOCK_LIVE], live);
	assert_int_equal(totals.count[XC_BLOCK_UNKNOWN], 0);
	assert_int_equal(totals.bytes[XC_BLOCK_LIVE] + totals.bytes[XC_BLOCK_CACHED] + number(process, "internal"),
			 number(process, "allocated"));
	assert_int_equal(totals.bytes[XC_BLOCK_CACHED], number(process, "cached"));
	if (heap->damage_count)
		fail_msg("%s (%s instead of %s)", heap->damages[0].what, heap->damages[0].found,
			 heap->damages[0].expected);
	assert_int_equal(heap->blocks.left_out, 0);
}

static struct xc_heap *opened(const char *core, struct xc_process **process_out)
{
	*process_out = open_core(core);
	struct xc_heap *heap = xc_heap_open(*process_out, NULL);
	if (heap->part_count == 0)
		fail_msg("%s", xc_heap_why_empty(heap));
	return heap;
}

static void check(const char *body)
{
	struct xc_process *process;
	struct xc_heap *heap = opened(core_of(build("program", PROGRAM, body)), &process);
	check_account(heap);
	xc_heap_close(heap);
	close_process(process);
}

static void every_block_of_many_threads_is_found(void **state)
{
	(void)state;
	check(shuffle);
}

static void every_class_has_its_size(void **state)
{
	(void)state;
	check(classes);
}

static void a_tree_with_few_extents_is_found(void **state)
{
	(void)state;
	check(few);
}

static const struct xc_jemalloc *read_by(const struct xc_heap *heap)
{
	for (size_t i = 0; i < heap->part_count; i++)
		if (heap->parts[i].allocator == &xc_allocator_jemalloc)
			return heap->parts[i].state;
	return NULL;
}

/* Like a running process, which has mostly unknown registers. */
static void caches_are_found_without_thread_pointers(void **state)
{
	(void)state;
	struct xc_process *process;
	struct xc_heap *heap = opened(core_of(build("program", PROGRAM, shuffle)), &process);
	for (size_t i = 0; i < process->thread_count; i++)
		memset(process->threads[i].regs.known, 0, sizeof process->threads[i].regs.known);
	struct xc_heap *again = xc_heap_open(process, NULL);
	assert_true(read_by(again)->cache_count > 8);
	check_account(again);
	xc_heap_close(again);
	xc_heap_close(heap);
	close_process(process);
}

/* ---- three levels ---- */

/* The process with a different radix tree: three levels of 15 bits and wide entries, as jemalloc
 * makes them on machines with 57-bit addresses. */
enum { ROOT = 1 << 18, NODE = 1 << 18, LEAF = 1 << 19, LEAVES = 64 };
static const xc_addr made_nodes = 0x100000000000;

struct regrown {
	uint8_t *nodes, *old; /* a node, then leaves; zeroes */
	uint64_t *root;
	size_t leaf_count;
	xc_addr keys[LEAVES];
};

static uint8_t *leaf_of(struct regrown *r, xc_addr key)
{
	size_t i = 0;
	while (i < r->leaf_count && r->keys[i] != key >> 27)
		i++;
	assert_true(i < LEAVES);
	if (i == r->leaf_count) {
		xc_addr leaf = made_nodes + NODE + i * LEAF;
		r->keys[r->leaf_count++] = key >> 27;
		r->root[key >> 42] = made_nodes;
		memcpy(r->nodes + (key >> 27 & 0x7fff) * 8, &leaf, 8);
	}
	return r->nodes + NODE + i * LEAF;
}

static void regrow_entry(void *context, const struct xc_jemalloc_entry *e)
{
	struct regrown *r = context;
	uint64_t entry[2] = {e->edata, (e->rest & 31) | e->rest >> 48 << 5};
	memcpy(leaf_of(r, e->key) + (e->key >> 12 & 0x7fff) * 16, entry, sizeof entry);
}

static void lay(struct xc_process *process, xc_addr lo, const void *bytes, size_t size)
{
	xc_space_add(process->space,
		     &(struct xc_segment){.lo = lo, .hi = lo + size - 1, .provenance = XC_FROM_CORE, .bytes = bytes});
}

static void a_tree_of_three_levels_tells_the_same(void **state)
{
	(void)state;
	struct xc_process *process;
	struct xc_heap *heap = opened(core_of(build("program", PROGRAM, few)), &process);
	const struct xc_jemalloc_tree *tree = &read_by(heap)->trees[0];
	struct regrown r = {.nodes = xc_alloc(NODE + LEAVES * LEAF), .old = xc_alloc(8 << 18)};
	uint64_t unreadable = 0;
	assert_int_equal(tree->geometry.levels, 2);
	r.root = (uint64_t *)(void *)(r.old + ROOT); /* somewhere, to replace the old one */
	xc_jemalloc_each_entry(process->space, tree, regrow_entry, &r, &unreadable);
	lay(process, tree->root, r.old, 8 << 18);
	lay(process, made_nodes, r.nodes, NODE + LEAVES * LEAF);
	xc_space_seal(process->space);
	struct xc_heap *again = xc_heap_open(process, NULL);
	assert_non_null(read_by(again));
	assert_int_equal(read_by(again)->trees[0].geometry.levels, 3);
	check_account(again);
	xc_heap_close(again);
	xc_heap_close(heap);
	close_process(process);
	free(r.nodes);
	free(r.old);
}

/* ---- damage ---- */

/* A heap with every word of jemalloc's own data, and of the threads' storage, changeable. */
struct bench {
	struct xc_process *process;
	struct xc_heap *sound;
	struct {
		xc_addr lo;
		uint8_t *bytes;
		size_t size;
	} copies[16];
	size_t copy_count;
	uint64_t **words; /* those that are not 0 */
	size_t word_count, word_capacity;
};

static void make_changeable(struct bench *b, xc_addr lo, uint64_t size)
{
	uint8_t *copy = xc_alloc(size);
	size_t got = xc_space_peek(b->process->space, lo, copy, size);
	assert_true(b->copy_count < XC_COUNT(b->copies));
	b->copies[b->copy_count].lo = lo;
	b->copies[b->copy_count].size = got;
	b->copies[b->copy_count++].bytes = copy;
	xc_space_add(b->process->space,
		     &(struct xc_segment){.lo = lo, .hi = lo + got - 1, .provenance = XC_FROM_CORE, .bytes = copy});
	for (size_t i = 0; i + 8 <= got; i += 8)
		if (xc_jemalloc_word(copy + i)) {
			b->words = xc_grow(b->words, b->word_count, &b->word_capacity, sizeof *b->words);
			b->words[b->word_count++] = (uint64_t *)(void *)(copy + i);
		}
}

static struct bench *set_up(const char *body)
{
	struct bench *b = xc_alloc(sizeof *b);
	uint64_t tp = 0;
	b->sound = opened(core_of(build("program", PROGRAM, body)), &b->process);
	const struct xc_jemalloc *je = read_by(b->sound);
	for (size_t i = 0; i < je->base_count; i++)
		make_changeable(b, je->bases[i].lo, je->bases[i].hi - je->bases[i].lo + 1);
	assert_true(xc_regs_get(&b->process->threads[0].regs, b->process->arch->tls.tp, &tp));
	make_changeable(b, tp - 4096, 4096);
	xc_space_seal(b->process->space);
	return b;
}

static uint8_t *bytes_at(struct bench *b, xc_addr addr)
{
	for (size_t i = 0; i < b->copy_count; i++)
		if (xc_inside(addr, 1, b->copies[i].lo, b->copies[i].lo + b->copies[i].size - 1))
			return b->copies[i].bytes + (addr - b->copies[i].lo);
	fail_msg("0x%" PRIx64 " cannot be changed", addr);
	return NULL;
}

static void tear_down(struct bench *b)
{
	xc_heap_close(b->sound);
	close_process(b->process);
	for (size_t i = 0; i < b->copy_count; i++)
		free(b->copies[i].bytes);
	free(b->words);
	free(b);
}

/* Live blocks of the intact heap that the other one lacks, or has as free. */
static size_t lost(const struct bench *b, const struct xc_heap *heap)
{
	const struct xc_blocks *sound = &b->sound->blocks;
	size_t count = 0;
	for (uint32_t i = 0; i < sound->count; i++) {
		xc_addr addr = xc_block_addr(sound, i);
		uint32_t block = xc_blocks_find(&heap->blocks, addr);
		bool there = block != XC_NO_BLOCK && xc_block_addr(&heap->blocks, block) == addr &&
			     xc_block_size(&heap->blocks, block) == xc_block_size(sound, i);
		if (xc_block_state(sound, i) == XC_BLOCK_LIVE)
			count += !there || (xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE &&
					    xc_block_state(&heap->blocks, block) != XC_BLOCK_UNKNOWN);
	}
	return count;
}

static const char mixed[] =
	"int main(void) { static void *kept[40000]; long n = 0; unsigned seed = 5;\n"
	"	while (n < 40000) kept[n++] = malloc(n % 200 ? rand_r(&seed) % 2000 : rand_r(&seed) % 200000);\n"
	"	for (long i = 0; i < n; i += 3) free(kept[i]);\n"
	"	die(); }\n";

static uint64_t smashed(uint64_t word, unsigned *seed)
{
	unsigned r = (unsigned)rand_r(seed);
	const uint64_t ways[] = {0,        UINT64_MAX,           0x4141414141414141, word ^ UINT64_C(1) << r % 64,
				 r % 5,    word + 4096,          word - 4096,        word << 12 | r,
				 word ^ r, UINT64_C(1) << r % 64};
	return ways[r / 64 % XC_COUNT(ways)];
}

static void one_word_costs_no_more_than_its_slab(void **state)
{
	(void)state;
	struct bench *b = set_up(mixed);
	unsigned seed = 11;
	size_t worst = 0;
	for (unsigned i = 0; i < grid_count(12, 60); i++) {
		uint64_t *word = b->words[(unsigned)rand_r(&seed) % b->word_count], was = *word;
		*word = smashed(was, &seed);
		struct xc_heap *heap = xc_heap_open(b->process, NULL);
		size_t count = lost(b, heap);
		if (count > 512)
			fail_msg("%u: %zu blocks lost by 0x%" PRIx64 " instead of 0x%" PRIx64, i, count, *word, was);
		worst = count > worst ? count : worst;
		xc_heap_close(heap);
		*word = was;
	}
	print_message("# at worst %zu of %zu blocks lost\n", worst, b->sound->blocks.count);
	tear_down(b);
}

/* Roots full of arbitrary pointers: leaves that repeat, leaves that overlap, records, nothing. */
static void a_hostile_root_ends_soon_and_harms_nobody(void **state)
{
	(void)state;
	struct bench *b = set_up(few);
	const struct xc_jemalloc_tree *tree = &read_by(b->sound)->trees[0];
	uint64_t size = UINT64_C(8) << tree->geometry.bits[0];
	make_changeable(b, tree->root, size);
	xc_space_seal(b->process->space);
	uint64_t *root = (uint64_t *)(void *)bytes_at(b, tree->root);
	xc_addr leaf = tree->leaves[0].addr, record = read_by(b->sound)->extents[0].edata;
	const uint64_t steps[] = {0, 64, 4096, 1 << 16, 1 << 20};
	for (size_t i = 0; i < XC_COUNT(steps); i++) {
		for (size_t k = 0; k < size / 8; k++)
			root[k] = k % 7 ? leaf + k * steps[i] : record + k % 64 * 64;
		struct xc_heap *heap = xc_heap_open(b->process, NULL);
		assert_true(heap->blocks.count < 1000000);
		xc_heap_close(heap);
	}
	tear_down(b);
}

static void a_smashed_record_is_reported_and_its_blocks_stay(void **state)
{
	(void)state;
	struct bench *b = set_up(mixed);
	const struct xc_jemalloc *je = read_by(b->sound);
	const struct xc_jemalloc_extent *slab = je->extents;
	while (!slab->slab || xc_jemalloc_block_count(je, slab) < 64)
		slab++;
	memset(bytes_at(b, slab->edata), 'A', 64);
	struct xc_heap *heap = xc_heap_open(b->process, NULL);
	assert_int_equal(lost(b, heap), 0);
	assert_int_equal(heap->damage_count, 1);
	assert_int_equal(heap->damages[0].addr, slab->edata);
	assert_non_null(strstr(heap->damages[0].what, "is of another address"));
	/* Blocks in a thread's cache are recognised by that. */
	assert_in_range(xc_heap_totals(heap).count[XC_BLOCK_UNKNOWN], 1, xc_jemalloc_block_count(je, slab));
	xc_heap_close(heap);
	tear_down(b);
}

static void an_audit_does_not_claim_to_have_seen_headers(void **state)
{
	(void)state;
	struct xc_process *process;
	struct xc_heap *heap = opened(core_of(build("program", PROGRAM, few)), &process);
	struct xc_report *report = xc_report_new("heap");
	struct xc_section *section = xc_report_section(report, "check", "Heap");
	xc_audit(section, heap);
	assert_non_null(strstr(section->headline, "jemalloc puts no headers between blocks"));
	for (const struct xc_item *item = section->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD && strcmp(item->field.key, "headers") == 0)
			assert_int_equal(item->field.cell.number, 0);
	xc_report_free(report);
	xc_heap_close(heap);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_block_of_many_threads_is_found),
		cmocka_unit_test(every_class_has_its_size),
		cmocka_unit_test(a_tree_with_few_extents_is_found),
		cmocka_unit_test(caches_are_found_without_thread_pointers),
		cmocka_unit_test(a_tree_of_three_levels_tells_the_same),
		cmocka_unit_test(one_word_costs_no_more_than_its_slab),
		cmocka_unit_test(a_hostile_root_ends_soon_and_harms_nobody),
		cmocka_unit_test(a_smashed_record_is_reported_and_its_blocks_stay),
		cmocka_unit_test(an_audit_does_not_claim_to_have_seen_headers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
