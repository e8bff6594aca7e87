/* parallel: the same work on many pieces, by several threads.
 *
 * Threads live for one call only: what runs between calls needs no locks. Pieces are taken in order, so that the caller
 * may put the largest first. Where no thread can be made (limits, sandboxes) the calling thread does all of it. */
#ifndef XC_PARALLEL_H
#define XC_PARALLEL_H

#include "core/base/base.h"

enum { XC_PARALLEL_MAX = 64 };

/* One piece. worker counts the threads from 0 (the calling one) and is below xc_parallel_workers: for state that each
 * thread keeps for itself. Must return normally (no longjmp). */
typedef void xc_parallel_fn(void *context, size_t piece, unsigned worker);

/* How many threads `count` pieces are given. jobs 0: one per processor. At least 1. */
unsigned xc_parallel_workers(unsigned jobs, size_t count);

/* Do pieces 0 to count - 1; returns when all are done. */
void xc_parallel(unsigned jobs, size_t count, xc_parallel_fn *work, void *context);

#endif
