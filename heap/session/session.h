/* session: a heap opened for a process.
 *
 * Opening a heap finds the allocators (allocator.h), walks their memory in parallel and makes one table of blocks
 * (blocks.h). The more expensive parts are made on first use and kept: the graph of pointers (graph.h), the types
 * of blocks (typing.h) and the memory that each block keeps alive (retention.h).
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

/* Finds the allocators and all blocks. A process without a known allocator has an empty heap with a reason
 * (xc_heap_why_empty); that is not an error. Cost: about 30 ns a block, and every page with block headers is read. */
struct xc_heap *xc_heap_open(const struct xc_process *process, const struct xc_heap_options *options);
void xc_heap_close(struct xc_heap *heap); /* NULL is fine */

/* The heap of a process: opened on first use and kept. xc_heap_forget closes it; call that before
 * xc_debuginfo_close. */
struct xc_heap *xc_heap_of(struct xc_process *process, const struct xc_heap_options *options);
void xc_heap_forget(struct xc_process *process);

/* Marks the heap as outdated because a running process has changed: the next xc_heap_of opens a new one. The
 * present heap remains valid until xc_heap_forget, for holders of its blocks. */
void xc_heap_invalidate(struct xc_process *process);

/* Makes the graph and the types, unless they exist. Errors: those of the graph (XC_ERR_LIMIT); then there are no
 * types either. */
XC_MUST_CHECK struct xc_error *xc_heap_analyze(struct xc_heap *heap);

#endif
