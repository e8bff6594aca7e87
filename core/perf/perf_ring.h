/* perf_ring: the ring that the kernel fills with the records of one processor. */
#ifndef XC_PERF_RING_H
#define XC_PERF_RING_H

#include "core/base/error.h"

struct xc_perf_ring {
	void *map; /* a page of positions, then `size` bytes; NULL: not mapped */
	size_t size;
	uint8_t *record; /* one record that wraps, copied; owned */
};

/* Map the ring of an event, of `size` bytes, a power of two of at least a page. Errors: XC_ERR_LIMIT, with a remedy,
 * where the limit on locked memory forbids it. */
XC_MUST_CHECK struct xc_error *xc_perf_ring_map(struct xc_perf_ring *ring, int fd, size_t size);
void xc_perf_ring_unmap(struct xc_perf_ring *ring);

/* The next record, aligned to 8 and valid until the next call, which gives its room back to the kernel; NULL: there is
 * none now. */
const uint8_t *xc_perf_ring_next(struct xc_perf_ring *ring, size_t *len_out);

/* The bytes of all records that there are now. */
size_t xc_perf_ring_used(const struct xc_perf_ring *ring);

#endif
