/* session: a heap opened for a process.
 *
 * Opening a heap finds the allocators (allocator.h), walks their memory in parallel and makes one table of blocks (blocks.h). The
 * more expensive parts are made on first use and kept: the graph of pointers (graph.h), the types of blocks (typing.h) and the
 * memory that each block keeps alive (retention.h).
 *
 *	process ── allocators ── blocks ──┬── graph ── leaks, paths, retention
 *	           (glibc, …)             └── typing (DWARF, graph)
 *
 * The process must outlive the heap. A heap is not thread-safe, although it uses threads internally. */
#ifndef XC_SESSION_H
#define XC_SESSION_H

#include "heap/blocks/heap.h"

struct xc_heap_options {
	unsigned jobs; /* threads; 0: one per processor */
	struct xc_progress *progress;
};

/* Find the allocators and all blocks. A process without any known allocator has an empty heap with a reason
 * (xc_heap_why_empty); that is no error. Cost: about 30 ns a block, and every page with block headers is touched. */
struct xc_heap *xc_heap_open(const struct xc_process *process, const struct xc_heap_options *options);
void xc_heap_close(struct xc_heap *heap); /* NULL is fine */

/* The heap of a process, opened on first use and kept; xc_heap_forget closes it (before xc_debuginfo_close). */
struct xc_heap *xc_heap_of(struct xc_process *process, const struct xc_heap_options *options);
void xc_heap_forget(struct xc_process *process);

/* A running process has moved on: the next xc_heap_of opens another heap. The present one stays, until xc_heap_forget, for those who
 * hold its blocks. */
void xc_heap_invalidate(struct xc_process *process);

/* Make the graph and the types, unless they are there. Errors: those of the graph (XC_ERR_LIMIT); then there are no types. */
XC_MUST_CHECK struct xc_error *xc_heap_analyze(struct xc_heap *heap);

#endif
