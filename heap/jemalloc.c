#include "allocator.h"

static void *detect(struct xc_heap *heap, size_t *pieces_out, const char **why_out)
{
	(void)heap;
	(void)pieces_out;
	(void)why_out;
	return NULL;
}

const struct xc_allocator xc_allocator_jemalloc = {.name = "jemalloc", .detect = detect};
