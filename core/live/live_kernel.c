/* live_kernel: the system calls that read a running process.
 *
 * Only present pages are read. Reading another page would fault it in, which grows the page tables of the process and,
 * for a device or a userfaultfd range, may have any effect. pagemap also shows ranges of device memory (VM_PFNMAP) as
 * never present, so those are not read either.
 *
 * Behind Landlock process_vm_readv is refused. /proc/PID/mem, opened read-only before, replaces it: the same bytes at
 * the same speed. It also shows whether the process is alive, because it refers to the address space and not to the
 * pid: after exit or exec a read at any address gives 0 bytes, and one at address 0 of a living process is EIO without
 * side effects. This probe follows every process_vm_readv, so bytes of another process with the same pid, or of a
 * program started by exec, are discarded.
 *
 * pagemap bits: Linux Documentation/admin-guide/mm/pagemap.rst (6.15): 63 present, 62 swapped, 58 guard. */
#include "core/live/live_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_GUARD   (UINT64_C(1) << 58)

struct xc_live_stats *xc_live_kernel_stats(void)
{
	void *at = mmap(NULL, sizeof(struct xc_live_stats), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		abort(); /* no memory */
	return at;
}

bool xc_live_kernel_gone(struct xc_live_kernel *k)
{
	char byte;
	if (!k->gone && pread(k->handles.mem, &byte, 1, 0) == 0)
		k->gone = true;
	return k->gone;
}

size_t xc_live_kernel_entries(struct xc_live_kernel *k, xc_addr page, uint64_t *entries, size_t count)
{
	ssize_t got = -1;
	if (k->handles.pagemap >= 0)
		got = pread(k->handles.pagemap, entries, count * sizeof *entries,
			    (off_t)(page / k->page_size * sizeof *entries));
	if (got < 0) { /* this kernel has no pagemap: try to read */
		for (size_t i = 0; i < count; i++)
			entries[i] = PAGE_PRESENT;
		return count;
	}
	return (size_t)got / sizeof *entries;
}

bool xc_live_kernel_may_read(const struct xc_live_kernel *k, uint64_t entry)
{
	if (entry & PAGE_PRESENT)
		return true;
	return (entry & PAGE_SWAPPED) && !(entry & PAGE_GUARD) && k->handles.swap;
}

void xc_live_batch_add(struct xc_live_batch *b, xc_addr addr, void *into, size_t len)
{
	b->addrs[b->count] = addr;
	b->local[b->count++] = (struct iovec){into, len};
}

/* The number of contiguous pieces from `from` on, and their bytes. */
static size_t run_length(const struct xc_live_batch *b, size_t from, size_t *bytes_out)
{
	size_t n = 0, bytes = 0;
	while (from + n < b->count && b->addrs[from + n] == b->addrs[from] + bytes)
		bytes += b->local[from + n++].iov_len;
	*bytes_out = bytes;
	return n;
}

static size_t read_by_call(struct xc_live_kernel *k, const struct xc_live_batch *b)
{
	struct iovec remote[XC_LIVE_BATCH];
	size_t runs = 0, bytes;
	for (size_t at = 0; at < b->count;) {
		xc_addr addr = b->addrs[at];
		at += run_length(b, at, &bytes);
		remote[runs++] = (struct iovec){(void *)(uintptr_t)addr, bytes};
	}
	ssize_t got = process_vm_readv(k->handles.tid, b->local, b->count, remote, runs, 0);
	k->stats->batches++;
	/* ESRCH: that thread has ended. The process may live on: mem shows it. */
	k->readv_refused = got < 0 && (errno == EPERM || errno == ENOSYS || errno == ESRCH);
	return got > 0 && !xc_live_kernel_gone(k) ? (size_t)got : 0;
}

static size_t read_by_file(struct xc_live_kernel *k, const struct xc_live_batch *b)
{
	size_t done = 0, bytes;
	for (size_t at = 0, n; at < b->count; at += n) {
		n = run_length(b, at, &bytes);
		ssize_t got = preadv(k->handles.mem, b->local + at, (int)n, (off_t)b->addrs[at]);
		k->stats->batches++;
		if (got == 0)
			k->gone = true;
		done += got > 0 ? (size_t)got : 0;
		if (got < 0 || (size_t)got < bytes)
			break;
	}
	return done;
}

size_t xc_live_kernel_read(struct xc_live_kernel *k, const struct xc_live_batch *b)
{
	size_t got = 0;
	if (!k->readv_refused)
		got = read_by_call(k, b);
	if (k->readv_refused)
		got = read_by_file(k, b);
	k->stats->bytes += got;
	return got;
}

bool xc_live_entry_swapped(uint64_t entry)
{
	return entry & PAGE_SWAPPED;
}

bool xc_live_entry_guard(uint64_t entry)
{
	return entry & PAGE_GUARD;
}

bool xc_live_entry_present(uint64_t entry)
{
	return entry & PAGE_PRESENT;
}

bool xc_live_kernel_resident(struct xc_live_kernel *k, xc_addr lo, xc_addr hi, uint64_t *bytes_out)
{
	enum { AT_ONCE = 512 };
	uint64_t entries[AT_ONCE], bytes = 0;
	bool known = k->handles.pagemap >= 0;
	for (xc_addr page = lo / k->page_size * k->page_size; known && page <= hi;) {
		uint64_t left = (hi - page) / k->page_size + 1;
		size_t count = left < AT_ONCE ? (size_t)left : AT_ONCE;
		known = xc_live_kernel_entries(k, page, entries, count) == count;
		for (size_t i = 0; known && i < count; i++, page += k->page_size) {
			xc_addr end = page + k->page_size - 1;
			if (xc_live_entry_present(entries[i]))
				bytes += (end < hi ? end : hi) - (page > lo ? page : lo) + 1;
		}
		if (count == left)
			break; /* it may be the last page of the address space */
	}
	*bytes_out = bytes;
	return known;
}
