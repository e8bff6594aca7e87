/* live_kernel: system calls that read the memory of a running process. Private to live*.c; not thread-safe. */
#ifndef XC_LIVE_KERNEL_H
#define XC_LIVE_KERNEL_H

#include <sys/types.h>
#include <sys/uio.h>

#include "core/base/base.h"
#include "core/live/live_stats.h"

#ifdef XC_HOSTILE
enum { XC_LIVE_BATCH = 4 };
#else
enum { XC_LIVE_BATCH = 64 }; /* pages, or pieces of them, read with one call */
#endif

/* The inputs of the reader. It takes the descriptors, which are -1 where the kernel refused one. */
struct xc_live_handles {
	pid_t tid;              /* a living thread of the process, for process_vm_readv */
	int mem;                /* /proc/PID/mem, read-only; required */
	int maps;               /* /proc/PID/maps; required */
	int pagemap;            /* /proc/PID/pagemap; without it every page counts as present */
	int smaps;              /* /proc/PID/smaps */
	int root;               /* /proc/PID/root, O_PATH */
	bool swap;              /* read swapped-out pages too */
	uint64_t max_read_rate; /* bytes per second; 0: no limit */
	unsigned max_read_time; /* milliseconds of our CPU time per second; 0: no limit */
	bool throttled;         /* the limits hold from the first byte */
};

struct xc_live_kernel {
	struct xc_live_handles handles; /* borrowed */
	size_t page_size;
	bool readv_refused, gone;
	struct xc_live_stats *stats; /* counted here; borrowed */
};

/* Pieces of memory to read with one call: addrs[i] into local[i]. */
struct xc_live_batch {
	xc_addr addrs[XC_LIVE_BATCH];
	struct iovec local[XC_LIVE_BATCH];
	size_t count;
};

void xc_live_batch_add(struct xc_live_batch *batch, xc_addr addr, void *into, size_t len);

/* Returns the number of bytes read, from the front. The batch must not include pages that may not be read (below). */
size_t xc_live_kernel_read(struct xc_live_kernel *kernel, const struct xc_live_batch *batch);

/* New counts of 0, in memory that is shared with forked children; munmap'ed by the caller. Never NULL. */
struct xc_live_stats *xc_live_kernel_stats(void);

/* Has the address space gone? One system call. */
bool xc_live_kernel_gone(struct xc_live_kernel *kernel);

/* Read the pagemap entries of up to `count` pages from page on. Returns their number, 0 when there are none. */
size_t xc_live_kernel_entries(struct xc_live_kernel *kernel, xc_addr page, uint64_t *entries, size_t count);

/* May the page of this entry be read without side effects on the process? If not, the reason: not present, swapped out
 * or a guard page. A page with none of these may be read, so a failure is the kernel's refusal. */
bool xc_live_kernel_may_read(const struct xc_live_kernel *kernel, uint64_t entry);
bool xc_live_entry_swapped(uint64_t entry);
bool xc_live_entry_guard(uint64_t entry);
bool xc_live_entry_present(uint64_t entry);

/* As xc_live_resident. */
bool xc_live_kernel_resident(struct xc_live_kernel *kernel, xc_addr lo, xc_addr hi, uint64_t *bytes_out);

#endif
