/* ends: where a heap stops and malloc goes on elsewhere: heaps of an arena that are full to the last chunk, and a main arena in pieces because
 * somebody else moved the break. What is left at an end becomes a fence, which is no block. */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#include "account.h"

enum { HEAP = 64 << 20, LARGE = 100 << 10, HEAPS = 3, PIECES = 12, MANY = 40000 };

struct small {
	struct small *next;
	long number;
};

/* Never written to except for the first word: 64 MiB of them are a few pages in the core. */
struct large {
	struct large *next;
	char rest[LARGE];
};

struct held {
	struct small *smalls;
	struct large *larges;
	struct small *(*others)[5];
};

HELD struct held by_thread, by_main;

static uintptr_t heap_of(void *block)
{
	return (uintptr_t)block / HEAP;
}

static PART void *add_small(struct held *held, size_t size)
{
	struct small *small = account_is(calloc(1, size), "struct small", 1);
	small->next = held->smalls;
	small->number = 1;
	return held->smalls = small;
}

/* The last free bytes of a heap go to the smallest blocks there are. */
static PART void fill_heap(struct held *held, int odd)
{
	uintptr_t now = heap_of(add_small(held, 24));
	for (;;) {
		struct large *large = malloc(sizeof *large);
		account_is(large, "struct large", 1);
		large->next = held->larges;
		held->larges = large;
		if (heap_of(large) != now || (uintptr_t)large % HEAP > HEAP - 2 * sizeof *large - 4096)
			break;
	}
	if (odd)
		add_small(held, 40);
	for (int i = 0; i < MANY && heap_of(add_small(held, 24)) == now; i++)
		;
}

static void *run(void *argument)
{
	for (int i = 0; i < HEAPS; i++)
		fill_heap(&by_thread, i % 2);
	return argument;
}

/* The break is moved between two calls of malloc: the old top cannot grow. */
static PART void break_main(void)
{
	for (int i = 0; i < PIECES; i++) {
		char *before = sbrk(0);
		for (int k = 0; k < MANY && (char *)sbrk(0) == before; k++)
			add_small(&by_main, i % 3 == 2 ? 40 : 24 + 16 * (size_t)(k % 3));
		if (sbrk(4096 * (i % 3 + 1) + (i % 2 ? 16 : 0)) == (void *)-1)
			abort();
		account_leaked(NEW(struct large));
	}
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	break_main();
	account_die();
}
