/* mimalloc: shared by the file that finds its pages and the one that reads their blocks. The layouts are in
 * mimalloc_find.c. */
#ifndef XC_MIMALLOC_IMPL_H
#define XC_MIMALLOC_IMPL_H

#include "heap/blocks/allocator.h"

enum {
	MI_PAGE_FREE = 16, /* within a page: its three lists of free blocks */
	MI_PAGE_LOCAL_FREE = 32,
	MI_PAGE_THREAD_FREE = 40,
};

/* Blocks of one size; or a run of slices that is free. */
struct mi_page {
	xc_addr page;      /* of the struct mi_page_t */
	xc_addr lo;        /* of the first block, or of the slices */
	uint64_t size;     /* of a block; of all slices if they are free */
	uint32_t used;     /* blocks that are in no list of the page's own thread */
	uint16_t capacity; /* blocks that have ever been free */
	uint16_t reserved; /* blocks with room; 0: free slices */
	bool aligned;      /* the address of some allocations is inside their block */
	xc_addr free[3];   /* first blocks of free, local_free, thread_free */
};

struct mi_state {
	uint32_t arena;
	uint64_t cookie;
	struct mi_page *pages; /* by address */
	size_t count, capacity;
	xc_addr *delayed; /* blocks freed by other threads, by the heap where they wait: the first of each list */
	size_t delayed_count, delayed_capacity;
	size_t *pieces; /* piece i: pages pieces[i] to pieces[i + 1] - 1 */
	size_t piece_count;
};

/* Finds all pages and heaps; adds the arena, regions and damage. False if mimalloc is not in use or cannot be read;
 * why_out may then get a reason. */
bool mi_find(struct xc_heap *heap, struct mi_state *state, const char **why_out);

#endif
