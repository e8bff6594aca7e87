/* live: a running process, which is read and never modified.
 *
 * xc_process_open_live (process.h) takes a snapshot of its mappings, threads and modules. Memory is read on demand
 * through a cache of bounded size. The functions here are for code that knows that a process is live. */
#ifndef XC_LIVE_H
#define XC_LIVE_H

#include "core/live/live_stats.h"
#include "core/process/process.h"

/* Discard cached and frozen memory and read the mappings again, so that later reads see the current state. Threads and
 * modules are not updated. From now on the rate limits hold from the first byte, because a caller that refreshes reads
 * repeatedly. No other thread may read meanwhile. Pointers to mappings and segments become invalid. No-op for cores. */
void xc_live_refresh(struct xc_process *process);

/* Discard cached memory, but not frozen ranges. Safe beside readers. No-op for cores. */
void xc_live_forget(struct xc_process *process);

/* Read the mappings again, as xc_live_refresh does, and discard nothing. */
void xc_live_remap(struct xc_process *process);

/* As xc_space_peek, but bypasses the cache. Frozen bytes are read as frozen. One system call reads up to 64 consecutive
 * pages. Its result may be torn when it is longer than a word. */
size_t xc_live_reread(const struct xc_process *process, xc_addr addr, void *buf, size_t len);

/* Has the thread slept since its system call was read, when the process was opened? Then all data that only this thread
 * changes is consistent. False for cores, and when the kernel does not report it. */
bool xc_live_thread_slept(const struct xc_process *process, const struct xc_thread *thread);

/* Count a torn read: the data was inconsistent because the process changed it meanwhile. */
void xc_live_count_torn(struct xc_process *process);

/* Freeze the bytes of [addr, addr + len): every later read of them gives their present value, until xc_live_refresh.
 * Bytes that are frozen already do not change. No-op for cores. Safe beside readers. Errors: XC_ERR_FAULT; XC_ERR_LIMIT
 * when frozen ranges, counted in whole pages, would exceed 256 MiB. */
XC_MUST_CHECK struct xc_error *xc_live_freeze(struct xc_process *process, xc_addr addr, uint64_t len);

/* The contiguous frozen bytes around addr: those of [*lo_out, *hi_out], valid until xc_live_refresh. NULL when addr is
 * not frozen. Safe beside readers. */
const uint8_t *xc_live_frozen(const struct xc_process *process, xc_addr addr, xc_addr *lo_out, xc_addr *hi_out);

/* The resident bytes of [lo, hi], shared pages included, as RSS counts them. Reads 8 bytes of pagemap per page and no
 * memory of the process. False for cores, and where the kernel does not report it. */
bool xc_live_resident(const struct xc_process *process, xc_addr lo, xc_addr hi, uint64_t *bytes_out);

/* True once a read has found that the process exited or replaced itself by exec; false for cores. */
bool xc_live_gone(const struct xc_process *process);

struct xc_live_stats xc_live_stats(const struct xc_process *process);

#endif
