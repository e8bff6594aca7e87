/* perf_ring: data_head is written by the kernel and read with acquire, data_tail is written here with release: struct
 * perf_event_mmap_page of include/uapi/linux/perf_event.h. A record is at most 65,535 bytes long. */
#include "core/perf/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 16 };

struct xc_error *xc_perf_ring_map(struct xc_perf_ring *ring, int fd, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED && errno == EPERM)
		return xc_error_hint(
			xc_error_new(XC_ERR_LIMIT,
				     "the limit on locked memory forbids a ring of %zu KiB for each processor",
				     size >> 10),
			"raise `ulimit -l` or kernel.perf_event_mlock_kb, or add CAP_IPC_LOCK");
	if (map == MAP_FAILED)
		return xc_error_errno(errno, "the ring of perf_event_open");
	*ring = (struct xc_perf_ring){.map = map, .size = size, .record = xc_alloc(MOST)};
	return NULL;
}

void xc_perf_ring_unmap(struct xc_perf_ring *ring)
{
	if (ring->map)
		munmap(ring->map, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
	free(ring->record);
	*ring = (struct xc_perf_ring){0};
}

static void copy_out(const struct xc_perf_ring *ring, uint64_t from, void *to, size_t len)
{
	const struct perf_event_mmap_page *page = ring->map;
	const uint8_t *data = (const uint8_t *)ring->map + page->data_offset;
	const size_t at = (size_t)(from & (ring->size - 1)), first = ring->size - at < len ? ring->size - at : len;
	memcpy(to, data + at, first);
	memcpy((uint8_t *)to + first, data, len - first);
}

const uint8_t *xc_perf_ring_next(struct xc_perf_ring *ring, size_t *len_out)
{
	struct perf_event_mmap_page *page = ring->map;
	const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	const uint64_t tail = page->data_tail; /* only we write it */
	struct perf_event_header header;
	if (head - tail < sizeof header)
		return NULL;
	copy_out(ring, tail, &header, sizeof header);
	const size_t len = header.size >= sizeof header && header.size <= head - tail ? header.size : 0;
	if (len)
		copy_out(ring, tail, ring->record, len);
	__atomic_store_n(&page->data_tail, len ? tail + len : head, __ATOMIC_RELEASE);
	*len_out = len;
	return len ? ring->record : NULL;
}

size_t xc_perf_ring_used(const struct xc_perf_ring *ring)
{
	const struct perf_event_mmap_page *page = ring->map;
	return (size_t)(__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - page->data_tail);
}
