/* Dies of SIGABRT because glibc found its heap damaged: each of its messages that a program can bring about.
 *
 * glibc 2.36, malloc/malloc.c. A chunk is { prev_size, size | flags, user bytes… }; the sizes are chosen by where a freed chunk
 * goes: thread cache up to 1,032 bytes (7 of a size), fast bins up to 128, else unsorted bin, or merged with its neighbours.
 * Every damage is done by a function that says what it is; the culprit is who called free or malloc, there it shows.
 * flags: -fno-builtin -fno-optimize-sibling-calls */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"

enum { FAST = 56, MIDDLE = 500, LARGE = 2000 };

struct order {
	long id;
	char name[40];
	struct order *next;
};

void *volatile sink;

static NOINLINE void release(void *block)
{
	free(block); /* dies: double-tcache double-fasttop double-prev double-out double-top tcache-many */
}

static NOINLINE void drop(void *block)
{
	free(block); /* dies: free-stack free-inside free-unmapped free-global */
}

static NOINLINE void release_order(struct order *order)
{
	free(order); /* dies: next-size next-size-fast next-size-even prev-size bad-size link consolidate not-small unlink-size */
}

static NOINLINE void *grow(void *block, size_t size)
{
	return realloc(block, size); /* dies: realloc-stack realloc-old-size realloc-next-size realloc-unmapped */
}

/* dies at its malloc: top-size top-small break-moved tcache-unaligned fast-unaligned fast-size unsorted-* sorted-links large-links */
static NOINLINE void *take(size_t size)
{
	return malloc(size);
}

static uintptr_t *words(void *block)
{
	return opaque(block);
}

/* Fill the thread cache's list of a size, so that what is freed next goes on. */
static NOINLINE void fill_cache(size_t size)
{
	void *held[7];
	for (int i = 0; i < 7; i++)
		held[i] = malloc(size);
	for (int i = 0; i < 7; i++)
		free(opaque(held[i]));
}

/* ---- freed twice ---- */

static void double_tcache(void)
{
	void *block = malloc(48);
	release(block);
	release(opaque(block));
}

static void double_fasttop(void)
{
	fill_cache(FAST);
	void *held[7], *block = NULL;
	for (int i = 0; i < 7; i++)
		held[i] = malloc(FAST);
	block = malloc(FAST);
	for (int i = 0; i < 7; i++)
		free(opaque(held[i]));
	release(block);
	release(opaque(block));
}

static void double_prev(void)
{
	void *block = malloc(LARGE), *guard = malloc(LARGE);
	release(block);
	sink = guard;
	release(opaque(block));
}

static void double_top(void)
{
	void *block = malloc(LARGE);
	sink = block;
	release(block); /* becomes part of the top */
	release(opaque(block));
}

/* The chunk says that it is so large that the next would lie past the heap. */
static void double_out(void)
{
	uintptr_t *block = malloc(LARGE);
	sink = malloc(24);
	words(block)[-1] = 0x4000001;
	release(block);
}

/* ---- no block at all ---- */

static void free_stack(void)
{
	uintptr_t local[8] = {0};
	sink = malloc(24);
	drop(opaque(local + 2));
}

static void free_inside(void)
{
	char *block = calloc(1, 200);
	drop(opaque(block + 8));
}

static void free_global(void)
{
	static char name[64];
	sink = malloc(24);
	drop(opaque(name + 32));
}

/* Its header says that it is a mapping of its own. */
static void free_unmapped(void)
{
	uintptr_t *block = malloc(100);
	words(block)[-1] |= 2;
	drop(block);
}

static void realloc_stack(void)
{
	uintptr_t local[8] = {0};
	sink = malloc(24);
	sink = grow(opaque(local + 1), 100);
}

static void realloc_unmapped(void)
{
	uintptr_t *block = malloc(200000);
	words(block)[-2] = 0x123;
	sink = grow(block, 300000);
}

static void realloc_old_size(void)
{
	uintptr_t *block = malloc(LARGE);
	words(block)[-1] = 0x4000001;
	sink = grow(block, 4000);
}

static void realloc_next_size(void)
{
	char *block = malloc(LARGE);
	sink = malloc(LARGE);
	words(block + 2008)[0] = 0x7fffffff1;
	sink = grow(block, 4000);
}

/* ---- written past the end ---- */

static NOINLINE void name_order(struct order *order, const char *name, size_t size)
{
	memcpy(order->name, name, size);
	KEEP(*order);
}

static void write_past_end(char letter)
{
	static char name[4096];
	memset(name, letter, sizeof name);
	struct order *order = malloc(LARGE), *next = malloc(LARGE);
	sink = next;
	name_order(order, opaque(name), LARGE + 16);
	release_order(order);
}

static void next_size(void)
{
	write_past_end('o');
}

/* The letter's lowest bit says that the block before is free: glibc takes it for freed twice. */
static void next_size_even(void)
{
	write_past_end('n');
}

static void next_size_fast(void)
{
	struct order *order = NULL;
	fill_cache(100);
	for (int i = 0; i < 8; i++)
		order = malloc(100);
	sink = malloc(100);
	fill_cache(100);
	words(order)[13] = 0;
	release_order(order);
}

static void prev_size(void)
{
	struct order *first = malloc(LARGE), *second = malloc(LARGE);
	sink = malloc(24);
	free(first);
	words(second)[-2] = 0x100; /* what lies before it is said to be smaller than it is */
	release_order(second);
}

static void bad_size(void)
{
	struct order *order = malloc(LARGE);
	sink = malloc(24);
	words(order)[-1] = 0x19;
	release_order(order);
}

static void top_size(void)
{
	uintptr_t *last = malloc(LARGE);
	words(last)[2008 / 8] = UINT64_MAX;
	sink = take(LARGE);
}

/* ---- written to after it was freed ---- */

static void bad_link(void)
{
	struct order *first = malloc(LARGE), *second = malloc(LARGE);
	sink = malloc(24);
	free(first);
	words(first)[0] = (uintptr_t)opaque(&sink);
	words(first)[1] = (uintptr_t)opaque(&sink);
	release_order(second);
}

static void tcache_unaligned(void)
{
	uintptr_t *first = malloc(48), *second = malloc(48);
	free(first);
	free(second);
	words(second)[0] ^= 8;
	sink = take(48);
	sink = take(48);
}

static void fast_unaligned(void)
{
	void *held[9];
	for (int i = 0; i < 9; i++)
		held[i] = malloc(FAST);
	for (int i = 0; i < 9; i++)
		free(opaque(held[i]));
	words(held[8])[0] ^= 8;
	for (int i = 0; i < 9; i++)
		sink = take(FAST);
}

/* A link of a fast bin leads to what is no chunk of its size. Without a thread cache, which would take it first. */
static void fast_size(void)
{
	static uintptr_t fake[8] __attribute__((aligned(16)));
	void *block = malloc(FAST);
	sink = malloc(FAST);
	free(block);
	words(block)[0] = (uintptr_t)opaque(fake) ^ (uintptr_t)block >> 12;
	sink = take(FAST);
	sink = take(FAST);
}

static uintptr_t *unsorted(void)
{
	uintptr_t *block = malloc(LARGE);
	sink = malloc(24);
	free(block);
	return words(block);
}

static void unsorted_size(void)
{
	unsorted()[-1] = 0x8;
	sink = take(4000);
}

static void unsorted_next(void)
{
	unsorted()[2008 / 8] = 0x8;
	sink = take(4000);
}

static void unsorted_prev(void)
{
	unsorted()[2000 / 8] = 0x120;
	sink = take(4000);
}

static void unsorted_links(void)
{
	static uintptr_t fake[8];
	unsorted()[1] = (uintptr_t)opaque(fake);
	sink = take(4000);
}

/* Two chunks of one size stand in their small bin; the link of one is overwritten. */
static void sorted_links(void)
{
	void *held[20];
	for (int i = 0; i < 20; i++)
		held[i] = malloc(MIDDLE);
	for (int i = 0; i < 20; i += 2)
		free(opaque(held[i]));
	for (int i = 1; i < 8; i += 2)
		free(opaque(held[i]));
	sink = malloc(4000);
	for (int i = 8; i < 20; i++)
		if (i % 2 == 0)
			words(held[i])[1] = (uintptr_t)opaque(&sink);
	for (int i = 0; i < 20; i++)
		sink = take(MIDDLE);
}

static uintptr_t *in_large_bin(size_t size)
{
	uintptr_t *block = malloc(size);
	sink = malloc(24);
	free(block);
	sink = malloc(6000);
	return words(block);
}

static void large_links(void)
{
	uintptr_t *first = in_large_bin(LARGE), *second = malloc(LARGE + 16);
	sink = malloc(5000);
	free(second);
	first[2] = first[3] = (uintptr_t)opaque(&sink);
	sink = take(6000);
}

/* The free chunk behind the one that is freed has lost its links by size. */
static void not_small(void)
{
	struct order *order = malloc(LARGE);
	uintptr_t *next = in_large_bin(LARGE);
	next[2] = next[3] = (uintptr_t)opaque(&sink);
	release_order(order);
}

static void unlink_size(void)
{
	struct order *order = malloc(LARGE);
	uintptr_t *next = malloc(LARGE);
	sink = malloc(24);
	free(next);
	words(next)[2000 / 8] = 0x100;
	release_order(order);
}

/* The top of the heap has become so small that glibc does not believe it. */
static void top_small(void)
{
	uintptr_t *last = malloc(LARGE);
	words(last)[2008 / 8] = 0x41;
	sink = take(LARGE);
}

static void break_moved(void)
{
	sink = malloc(100000);
	if (sbrk(-(intptr_t)opaque_long(4 * 4096)) == (void *)-1)
		exit(2);
	sink = take(100000);
}

/* The counts of the thread cache were overwritten, and a block looks as if it were in it. */
static void tcache_many(void)
{
	uintptr_t *held[9];
	for (int i = 0; i < 9; i++)
		held[i] = malloc(48);
	for (int i = 0; i < 7; i++)
		free(opaque(held[i]));
	uint16_t *counts = opaque((void *)(((uintptr_t)held[0] & ~(uintptr_t)0xfff) + 16));
	counts[2] = 0;
	free(opaque(held[7]));
	words(held[8])[1] = words(held[6])[1];
	release(held[8]);
}

static void *leave_thread(void *argument)
{
	uintptr_t *first = malloc(48), *second = malloc(48);
	free(first);
	free(second);
	words(second)[0] ^= 8;
	return argument;
}

static void thread_shutdown(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, leave_thread, NULL);
	pthread_join(thread, NULL);
}

static void consolidate(void)
{
	void *held[9];
	for (int i = 0; i < 9; i++)
		held[i] = malloc(FAST);
	struct order *large = malloc(70000);
	for (int i = 0; i < 9; i++)
		free(opaque(held[i]));
	words(held[8])[-1] = 0x55551;
	sink = malloc(24);
	release_order(large);
}

DEATHS({"double-tcache", double_tcache}, {"double-fasttop", double_fasttop}, {"double-prev", double_prev},
       {"double-top", double_top}, {"double-out", double_out}, {"free-stack", free_stack}, {"free-inside", free_inside},
       {"free-global", free_global}, {"free-unmapped", free_unmapped}, {"realloc-stack", realloc_stack},
       {"realloc-unmapped", realloc_unmapped}, {"realloc-old-size", realloc_old_size},
       {"realloc-next-size", realloc_next_size}, {"next-size", next_size}, {"next-size-fast", next_size_fast},
       {"prev-size", prev_size}, {"bad-size", bad_size}, {"top-size", top_size}, {"link", bad_link},
       {"tcache-unaligned", tcache_unaligned}, {"fast-unaligned", fast_unaligned}, {"fast-size", fast_size},
       {"unsorted-size", unsorted_size}, {"unsorted-next", unsorted_next}, {"unsorted-prev", unsorted_prev},
       {"unsorted-links", unsorted_links}, {"sorted-links", sorted_links}, {"large-links", large_links},
       {"consolidate", consolidate}, {"next-size-even", next_size_even}, {"not-small", not_small},
       {"unlink-size", unlink_size}, {"top-small", top_small}, {"break-moved", break_moved},
       {"tcache-many", tcache_many}, {"thread-shutdown", thread_shutdown})
