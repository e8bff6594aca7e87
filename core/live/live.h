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

/* Discard cached memory, as xc_live_forget, and read at once the pages that were read after the last few calls for the
 * same reader: what it reads again each time is then of now, and costs less. No-op for cores. */
void xc_live_renew(struct xc_process *process, uint64_t reader);

/* From now on, or not any more: reads are short, and it is their moment that counts. No page beside those that are
 * asked for is read, and no pause is made to limit the rate: the caller does, by reading a few pages at a time that it
 * is given. No-op for cores. */
void xc_live_brief(struct xc_process *process, bool brief);

/* Read the mappings again, as xc_live_refresh does, and discard nothing. */
void xc_live_remap(struct xc_process *process);

/* The same, and append the modules that were loaded since, with their files, found as those before were: the finder of
 * xc_process_open_live must still be there. Modules that were unloaded stay. */
void xc_live_find_modules(struct xc_process *process);

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

/* Freeze bytes that a thread may write, as xc_live_freeze, if they stay the same while it runs on for a while: then
 * they are what they were when it was sampled. Takes 30 ms at most; false when they changed, or it did not run. */
bool xc_live_freeze_still(struct xc_process *process, pid_t tid, xc_addr addr, size_t len);

/* A window into the past: until the next call, reads of [lo, lo + len) give `bytes`, which the kernel copied with a
 * sample and which are borrowed; reads of the rest up to `end`, inclusive, give the present memory and bypass the
 * cache: the window lies on a stack that changes. end 0: there is no window. Not for frozen memory. No-op for cores. No
 * other thread may read meanwhile. */
void xc_live_show(struct xc_process *process, xc_addr lo, const uint8_t *bytes, size_t len, xc_addr end);

/* Freeze what the window shows of a stack: its bytes and, if the stack is whole with it, what was read later. What lies
 * between cannot be read from then on, nor, of a stack that is not whole, 8 MiB above the bytes: it would belong to
 * another instant. False when frozen memory would exceed its limit; nothing is frozen then. */
bool xc_live_hold(struct xc_process *process, bool whole);

/* The contiguous frozen bytes around addr: those of [*lo_out, *hi_out], valid until xc_live_refresh. NULL when addr is
 * not frozen. Safe beside readers. */
const uint8_t *xc_live_frozen(const struct xc_process *process, xc_addr addr, xc_addr *lo_out, xc_addr *hi_out);

/* The resident bytes of [lo, hi], shared pages included, as RSS counts them. Reads 8 bytes of pagemap per page and no
 * memory of the process. False for cores, and where the kernel does not report it. */
bool xc_live_resident(const struct xc_process *process, xc_addr lo, xc_addr hi, uint64_t *bytes_out);

/* True once a read has found that the process exited or replaced itself by exec; false for cores. */
bool xc_live_gone(const struct xc_process *process);

/* Ask the kernel whether the process is still there and runs the same program. False for cores. */
bool xc_live_is_there(const struct xc_process *process);

/* "/proc/PID/task", opened when the process was; owned by the process. -1 for cores, and where the kernel refused. */
int xc_live_task_dir(const struct xc_process *process);

/* CPU time so far, in user mode and in the kernel: of a thread, or, with tid 0, of all, those that have ended too.
 * Nanoseconds, in steps of the kernel's tick. False for cores and when the kernel does not tell. */
bool xc_live_times(const struct xc_process *process, pid_t tid, uint64_t *user_ns_out, uint64_t *system_ns_out);

struct xc_live_stats xc_live_stats(const struct xc_process *process);

#endif
