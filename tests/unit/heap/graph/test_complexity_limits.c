/* layer: heap tier: check
 *
 * Heaps of some megabytes built for maximum cost: work must be proportional to their size. The limit of five seconds of
 * CPU time is above the time of each, and below that of an unbounded case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

#include "heap/session/session.h"
#include "heap/graph/thread_memory.h"
#include "tests/support/chunks.h"

#ifdef __SANITIZE_ADDRESS__
enum { SECONDS = 25 };
#else
enum { SECONDS = 5 };
#endif

enum { BYTES = 12 << 20, CHAIN = 60000 };

#define BIG_AT UINT64_C(0x600000000000)

/* A main arena with all of its chunks in memory of that size. */
struct big {
	struct chunks *chunks;
	uint8_t *bytes;
	xc_addr end; /* of the chunks added so far */
};

static struct big big_new(void)
{
	struct big big = {chunks_new(), xc_alloc(BYTES), BIG_AT};
	chunks_lay(big.chunks, 0, BIG_AT, big.bytes, BYTES);
	xc_space_seal(big.chunks->process->space);
	return big;
}

static void big_free(struct big *big)
{
	chunks_free(big->chunks);
	free(big->bytes);
}

static void put(struct big *big, xc_addr addr, uint64_t word)
{
	memcpy(big->bytes + (addr - BIG_AT), &word, sizeof word);
}

/* Append a chunk in use; returns its block. */
static xc_addr take(struct big *big, uint64_t size)
{
	xc_addr chunk = big->end;
	put(big, chunk + 8, size | 1);
	big->end += size;
	return chunk + 16;
}

/* The top chunk takes the rest. */
static void finish(struct big *big)
{
	const xc_addr state = CHUNKS_DATA_AT + CHUNKS_STATE;
	put(big, big->end + 8, (BIG_AT + BYTES - big->end) | 1);
	chunks_put(big->chunks, state + 0x60, big->end);
	chunks_put(big->chunks, state + 0x888, BYTES);
}

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Blocks that look like tcaches, all with the same long list, and one list that is none. */
static void many_tcaches_with_one_long_list_cost_what_their_bytes_do(void **state)
{
	(void)state;
	struct big big = big_new();
	xc_addr first = big.end + 16, rest;
	for (int i = 0; i < CHAIN; i++) {
		xc_addr block = take(&big, 0x20);
		put(&big, block, block >> 12 ^ (i + 1 < CHAIN ? block + 0x20 : 0));
	}
	rest = take(&big, 0x30);
	put(&big, rest, rest >> 12);
	uint16_t counts[64] = {CHAIN, 9}; /* the second list has one only */
	while (BIG_AT + BYTES - big.end > 0x1000) {
		xc_addr block = take(&big, 0x290);
		memcpy(big.bytes + (block - BIG_AT), counts, sizeof counts);
		put(&big, block + 128, first);
		put(&big, block + 136, rest);
	}
	finish(&big);
	double before = seconds();
	struct xc_heap *heap = xc_heap_open(big.chunks->process, &(struct xc_heap_options){.jobs = 1});
	print_message("%zu blocks: %.2f s\n", heap->blocks.count, seconds() - before);
	assert_true(heap->blocks.count > CHAIN + 10000);
	assert_true(seconds() - before < SECONDS);
	xc_heap_close(heap);
	big_free(&big);
}

/* Opens the heap; it may have any blocks, but must not take long. */
static void open_soon(struct big *big, const char *what)
{
	double before = seconds();
	struct xc_heap *heap = xc_heap_open(big->chunks->process, &(struct xc_heap_options){.jobs = 1});
	print_message("%s: %zu blocks, %.2f s\n", what, heap->blocks.count, seconds() - before);
	assert_true(seconds() - before < SECONDS);
	xc_heap_close(heap);
}

/* All of libc's data looks like bins; the ring of arenas has no end. */
static void data_full_of_empty_bins_cost_what_their_bytes_do(void **state)
{
	(void)state;
	struct big big = big_new();
	struct xc_process *process = big.chunks->process;
	big.chunks->mappings[0] = (struct xc_mapping){
		.lo = BIG_AT, .hi = BIG_AT + BYTES - 1, .readable = true, .writable = true, .dumped = BYTES};
	process->modules[0]->lo = BIG_AT;
	process->modules[0]->hi = BIG_AT + BYTES - 1;
	xc_process_index(process);
	for (unsigned some = 4; some <= 64; some *= 4) { /* one of so many does not count */
		for (xc_addr at = BIG_AT; at - BIG_AT < BYTES; at += 16) {
			put(&big, at, at / 16 % some ? at - 16 : 0);
			put(&big, at + 8, at - 16);
		}
		open_soon(&big, "bins");
	}
	big_free(&big);
}

/* The top chunk claims a heap of 64 TiB. */
static void a_heap_that_claims_all_of_memory_costs_what_its_bytes_do(void **state)
{
	(void)state;
	for (unsigned bits = 40; bits <= 46; bits += 2) {
		struct big big = big_new();
		for (int i = 0; i < 1000; i++)
			take(&big, 0x30);
		finish(&big);
		put(&big, big.end + 8, (UINT64_C(1) << bits) | 1);
		chunks_put(big.chunks, CHUNKS_DATA_AT + CHUNKS_STATE + 0x888, big.end - BIG_AT + (UINT64_C(1) << bits));
		open_soon(&big, "claim, whole");
		put(&big, BIG_AT + 0x30 * 500 + 8, 0x1234567);
		open_soon(&big, "claim, damaged");
		big_free(&big);
	}
}

/* Arenas with fastbins that all have the same long list. */
static void arenas_with_one_long_fastbin_cost_what_their_bytes_do(void **state)
{
	(void)state;
	const xc_addr main = CHUNKS_DATA_AT + CHUNKS_STATE;
	struct big big = big_new();
	for (int i = 0; i < CHAIN; i++) {
		xc_addr block = take(&big, 0x20);
		put(&big, block, block >> 12 ^ (i + 1 < CHAIN ? block + 0x10 : 0));
	}
	xc_addr pages = (big.end + 0xfff) & ~UINT64_C(0xfff), last = main;
	finish(&big);
	for (xc_addr page = pages; BIG_AT + BYTES - page > 0x2000; page += 0x1000) {
		put(&big, page, page + 0x30); /* a heap_info, followed by its arena */
		put(&big, page + 8, 0);
		for (unsigned i = 0; i < 10; i++)
			put(&big, page + 0x30 + 0x10 + 8 * i, BIG_AT);
		put(&big, page + 0x30 + 0x870, last);
		last = page + 0x30;
	}
	chunks_put(big.chunks, main + 0x870, last);
	open_soon(&big, "fastbins");
	big_free(&big);
}

/* A noncontiguous main arena, beside fifteen terabytes that are mapped and not in the core, like a sanitizer's
 * shadow memory. */
static void memory_that_is_not_there_costs_nothing(void **state)
{
	(void)state;
	const xc_addr shadow = UINT64_C(1) << 40, last = shadow + (UINT64_C(15) << 40) - 1;
	struct big big = big_new();
	for (int i = 0; i < 1000; i++)
		take(&big, 0x30);
	finish(&big);
	chunks_put(big.chunks, CHUNKS_DATA_AT + CHUNKS_STATE, UINT64_C(2) << 32); /* not contiguous */
	xc_space_add(big.chunks->process->space,
		     &(struct xc_segment){.lo = shadow, .hi = last, .provenance = XC_NOT_DUMPED});
	xc_space_seal(big.chunks->process->space);
	big.chunks->mappings[0] = (struct xc_mapping){.lo = shadow, .hi = last, .readable = true, .writable = true};
	open_soon(&big, "shadow");
	big_free(&big);
}

static void no_stack(void *context, xc_addr lo, xc_addr hi, xc_addr dtv)
{
	(void)lo, (void)hi, (void)dtv;
	++*(size_t *)context;
}

/* Words equal to their own address, and many threads whose ids agree: each word may begin the descriptor of an
 * ended thread. */
static void many_descriptors_and_many_threads_cost_what_their_bytes_do(void **state)
{
	(void)state;
	enum { THREADS = 20000 };
	struct big big = big_new();
	struct xc_process *process = big.chunks->process;
	struct xc_thread *threads = xc_alloc(THREADS * sizeof *threads);
	size_t found = 0;
	for (xc_addr at = BIG_AT; at - BIG_AT < BYTES; at += 64) {
		put(&big, at, at);
		put(&big, at + 16, at);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		threads[i].has_regs = true;
		xc_regs_set(&threads[i].regs, process->arch->tls.tp, BIG_AT + 8 + 64 * (uint64_t)i);
		threads[i].tid = i + 1 < THREADS ? 0 : 7; /* all but the last agree everywhere */
	}
	process->threads = threads;
	process->thread_count = THREADS;
	struct xc_heap heap = {.process = process};
	struct xc_ended_search search;
	double before = seconds();
	xc_ended_search_init(&search, &heap);
	search.tid_at = 24;
	xc_ended_search_range(&search, BIG_AT, BIG_AT + BYTES - 1, no_stack, &found);
	xc_ended_search_fini(&search);
	print_message("%d descriptors, %d threads: %.2f s\n", BYTES / 64, THREADS, seconds() - before);
	assert_true(seconds() - before < SECONDS);
	process->threads = NULL;
	process->thread_count = 0;
	free(threads);
	big_free(&big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_tcaches_with_one_long_list_cost_what_their_bytes_do),
		cmocka_unit_test(data_full_of_empty_bins_cost_what_their_bytes_do),
		cmocka_unit_test(a_heap_that_claims_all_of_memory_costs_what_its_bytes_do),
		cmocka_unit_test(arenas_with_one_long_fastbin_cost_what_their_bytes_do),
		cmocka_unit_test(memory_that_is_not_there_costs_nothing),
		cmocka_unit_test(many_descriptors_and_many_threads_cost_what_their_bytes_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
