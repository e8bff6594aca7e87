/* mimalloc: between the file that finds its pages and the one that reads their blocks. Layouts: mimalloc_find.c. */
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
	uint64_t size;     /* of a block; of all slices when they are free */
	uint32_t used;     /* blocks that are in no list of the page's own thread */
	uint16_t capacity; /* blocks that were ever free */
	uint16_t reserved; /* blocks that there is room for; 0: free slices */
	bool aligned;      /* some of its blocks were handed out from somewhere behind their beginning */
	xc_addr free[3];   /* first blocks of free, local_free, thread_free */
};

struct mi_state {
	uint32_t arena;
	uint64_t cookie;
	struct mi_page *pages; /* by address */
	size_t count, capacity;
	xc_addr *delayed; /* blocks freed by other threads, by the heaps they wait at: firsts of lists */
	size_t delayed_count, delayed_capacity;
	size_t *pieces; /* piece i: pages pieces[i] to pieces[i + 1] - 1 */
	size_t piece_count;
};

/* Find all pages and heaps; adds the arena, regions and damages. False when mimalloc is not in use or cannot be read; then why_out may
 * get a reason. */
bool mi_find(struct xc_heap *heap, struct mi_state *state, const char **why_out);

#endif
