/* live: a running process, read and never touched.
 *
 * xc_process_open_live (process.h) takes a picture of its mappings, threads and modules; memory is read on demand
 * through a cache of bounded size. The calls here are for those who know that a process is live. */
#ifndef XC_LIVE_H
#define XC_LIVE_H

#include "core/live/live_stats.h"
#include "core/process/process.h"

/* Forget all that was read and frozen, and look at the mappings anew: later reads see the process as it is then. Threads and modules
 * stay as they were found. Whoever refreshes reads again and again: from now on the limits on reading hold from the first byte.
 * Not beside readers; pointers to mappings and segments end here. No-op for cores. */
void xc_live_refresh(struct xc_process *process);

/* Forget cached memory only: what is frozen stays. Safe beside readers. No-op for cores. */
void xc_live_forget(struct xc_process *process);

/* Look at the mappings anew, as xc_live_refresh does, and forget nothing. */
void xc_live_remap(struct xc_process *process);

/* As xc_space_peek, fresh from the process: past the cache, which stays as it is. Frozen bytes are answered as
 * they were frozen. One system call for each 64 pages that follow one another; such a piece can be torn itself when it is longer
 * than a word. */
size_t xc_live_reread(const struct xc_process *process, xc_addr addr, void *buf, size_t len);

/* Has the thread slept ever since its call was asked for, when the process was opened? Then what was read in between is of one moment, as
 * far as it is the thread's to change. False for cores, and when the kernel does not tell. */
bool xc_live_thread_slept(const struct xc_process *process, const struct xc_thread *thread);

/* Count a torn read: what was read did not fit together because the process changed it meanwhile. */
void xc_live_count_torn(struct xc_process *process);

/* Keep the bytes of [addr, addr + len) as they are now: all later reads of them, by whatever way, see these, until
 * xc_live_refresh. What is frozen already stays as it was. No-op for cores. Safe beside readers.
 * Errors: XC_ERR_FAULT; XC_ERR_LIMIT when all that is frozen would take more than 256 MiB, each range counted in whole
 * pages. */
XC_MUST_CHECK struct xc_error *xc_live_freeze(struct xc_process *process, xc_addr addr, uint64_t len);

/* The frozen bytes around addr, as far as they lie together in our memory: those of [*lo_out, *hi_out], until xc_live_refresh. NULL when
 * addr is not frozen. Safe beside readers. */
const uint8_t *xc_live_frozen(const struct xc_process *process, xc_addr addr, xc_addr *lo_out, xc_addr *hi_out);

/* Bytes of [lo, hi] whose pages the kernel has in memory for this process just now, whoever shares them: what RSS counts. 8 bytes of
 * pagemap are read for each page, the process itself is not. False for cores, and where the kernel does not tell. */
bool xc_live_resident(const struct xc_process *process, xc_addr lo, xc_addr hi, uint64_t *bytes_out);

/* True once a read has found that the process exited or replaced itself by exec; false for cores. */
bool xc_live_gone(const struct xc_process *process);

struct xc_live_stats xc_live_stats(const struct xc_process *process);

#endif
