/* sizes: blocks of every size, aligned, grown and shrunk in place and elsewhere, mapped on their own, at the edges of the bins; with
 * free blocks of every kind between them. */
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include "account.h"

enum { SMALL = 2200, ALIGNED = 12 };

struct table {
	void *small[SMALL];
	void *aligned[ALIGNED][8];
	void *grown[40];
	void *large[24];
	void *huge[3];
};

HELD struct table *table;

static PART void *bytes(size_t size)
{
	return account_is(calloc(1, size), "void|char|unsigned char", size);
}

static PART void all_small(void)
{
	for (size_t i = 0; i < SMALL; i++)
		table->small[i] = bytes(i);
	for (size_t i = 0; i < SMALL; i += 3) {
		free(table->small[i]);
		table->small[i] = NULL;
	}
}

static PART void all_aligned(void)
{
	for (unsigned i = 0; i < ALIGNED; i++) {
		for (unsigned k = 0; k < 8; k++) {
			void *block = NULL;
			size_t alignment = (size_t)16 << i;
			if (posix_memalign(&block, alignment, 24 + 100 * k * (i + 1)))
				abort();
			table->aligned[i][k] = account_is(block, "void|char", 1);
		}
		free(table->aligned[i][3]);
		table->aligned[i][3] = NULL;
	}
}

static PART void all_grown(void)
{
	for (size_t i = 0; i < 40; i++) {
		char *block = NULL;
		for (size_t size = 20; size < (i + 1) * 700; size *= 2) {
#ifdef ACCOUNT_NO_HOOKS
			if (block)
				account_freed(block);
#endif
			block = account_is(realloc(block, size), "void|char", size);
			memset(block, 0x5a, size); /* else a pointer of a free list may stay */
		}
#ifdef ACCOUNT_NO_HOOKS
		account_freed(block);
#endif
		table->grown[i] = account_is(realloc(block, i % 2 ? 100 + i : 30000 + i * 500), "void|char", 1);
	}
}

/* From 64 KiB on, past the mmap threshold, which moves when a mapped block is freed. */
static PART void all_large(void)
{
	for (size_t i = 0; i < 24; i++)
		table->large[i] = bytes((64 << 10) + i * 12345);
	for (size_t i = 0; i < 24; i += 5) {
		free(table->large[i]);
		table->large[i] = bytes(100 + i);
	}
	for (size_t i = 0; i < 3; i++)
		table->huge[i] = account_is(malloc((size_t)(i + 1) << 25), "void", 1);
	void *block = NULL;
	if (posix_memalign(&block, 1 << 21, 3 << 20)) /* mapped, and not at the start of its mapping */
		abort();
	free(table->huge[1]);
	table->huge[1] = account_is(block, "void", 1);
}

static PART void leak_some(void)
{
	for (size_t i = 1; i < 300; i += 2)
		account_leaked(bytes(i * 31));
	account_leaked(account_is(calloc(1, 1 << 20), "void|char", 1 << 20));
	account_leaked(account_is(aligned_alloc(4096, 8192), "void|char", 1));
}

int main(void)
{
	table = NEW(struct table);
	leak_some();
	all_small();
	all_aligned();
	all_grown();
	all_large();
	account_die();
}
