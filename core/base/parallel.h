/* parallel: runs one function on many pieces of work in several threads.
 *
 * Threads live for one call only, so code between calls needs no locks. Pieces are taken in order: the caller may put
 * the largest first. Where no thread can be created (limits, sandboxes), the calling thread does all the work. */
#ifndef XC_PARALLEL_H
#define XC_PARALLEL_H

#include "core/base/base.h"

enum { XC_PARALLEL_MAX = 64 };

/* Process one piece. worker is the number of the thread, 0 for the calling one and below xc_parallel_workers: an index
 * for per-thread state. Must return normally (no longjmp). */
typedef void xc_parallel_fn(void *context, size_t piece, unsigned worker);

/* The number of threads used for `count` pieces, at least 1. jobs 0: one per processor. */
unsigned xc_parallel_workers(unsigned jobs, size_t count);

/* Process pieces 0 to count - 1. Returns when all are done. */
void xc_parallel(unsigned jobs, size_t count, xc_parallel_fn *work, void *context);

#endif
