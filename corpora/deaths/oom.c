/* Dies because an allocation failed: the program's own allocator gives up. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "death.h"

volatile long sink;

static NOINLINE void *xmalloc(size_t size)
{
	void *block = malloc(size);
	if (!block) {
		fprintf(stderr, "out of memory\n");
		abort(); /* dies: xmalloc limit */
	}
	return block;
}

static NOINLINE void *load(size_t count)
{
	void *table = xmalloc(count * 64); /* dies: xmalloc limit */
	KEEP(table);
	return table;
}

static void die_xmalloc(void)
{
	sink = (long)load((size_t)opaque_long(1L << 48));
}

/* The limit of the address space is reached. */
static void die_limit(void)
{
	struct rlimit limit = {.rlim_cur = 64 << 20, .rlim_max = 64 << 20};
	if (setrlimit(RLIMIT_AS, &limit))
		exit(2);
	for (int i = 0; i < 100; i++)
		sink = (long)load((size_t)opaque_long(1L << 16));
}

DEATHS({"xmalloc", die_xmalloc}, {"limit", die_limit})
