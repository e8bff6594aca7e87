/* live: a running process, read and never touched.
 *
 * xc_process_open_live (process.h) takes a picture of its mappings, threads and modules; memory is read on demand
 * through a cache of bounded size. The calls here are for those who know that a process is live. */
#ifndef XC_LIVE_H
#define XC_LIVE_H

#include "process.h"

/* What reading has cost so far. */
struct xc_live_stats {
	uint64_t bytes;   /* taken out of the process */
	uint64_t batches; /* system calls that took them */
	uint64_t absent;  /* pages answered without the process: never touched, or from the mapped file */
};

/* Forget all cached memory, so that later reads see the process as it is then. Safe beside readers. No-op
 * for cores. */
void xc_live_refresh(struct xc_process *process);

/* True once a read has found that the process exited or replaced itself by exec; false for cores. */
bool xc_live_gone(const struct xc_process *process);

struct xc_live_stats xc_live_stats(const struct xc_process *process);

/* A path that names the process's root directory (its mount namespace) for xc_finder_open, usable also behind
 * xc_sandbox_writes, where /proc/PID/root is refused; NULL for cores and when it was refused from the start.
 * Lives as long as the process. */
const char *xc_live_root(const struct xc_process *process);

/* Free process->live_state; called by xc_process_close. NULL is fine. */
void xc_live_close(void *live_state);

#endif
