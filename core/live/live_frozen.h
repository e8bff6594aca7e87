/* live_frozen: copies of memory ranges of a running process. Private to live*.c; not thread-safe. */
#ifndef XC_LIVE_FROZEN_H
#define XC_LIVE_FROZEN_H

#include "core/base/base.h"

/* The limit on all ranges. Each counts as whole pages, so their number is bounded too. */
#define XC_FROZEN_MAX (UINT64_C(256) << 20)

struct xc_live_frozen_range {
	xc_addr lo, hi; /* inclusive */
	uint8_t *bytes;
};

struct xc_live_frozen {
	struct xc_live_frozen_range *ranges; /* address order, disjoint */
	size_t count, capacity;
	uint64_t used;
};

/* The first range that ends at addr or above, or NULL. O(log n). */
const struct xc_live_frozen_range *xc_live_frozen_find(const struct xc_live_frozen *frozen, xc_addr addr);

/* Would another range of len bytes fit? */
bool xc_live_frozen_fits(const struct xc_live_frozen *frozen, uint64_t len);

/* Copy the len >= 1 bytes of [lo, lo + len), which must not wrap. Bytes that are frozen already do not change. */
void xc_live_frozen_add(struct xc_live_frozen *frozen, xc_addr lo, const uint8_t *bytes, uint64_t len);

/* The same, but takes the malloc'ed bytes and does not copy them if none are frozen yet. */
void xc_live_frozen_take(struct xc_live_frozen *frozen, xc_addr lo, uint8_t *bytes, uint64_t len);

void xc_live_frozen_clear(struct xc_live_frozen *frozen);

#endif
