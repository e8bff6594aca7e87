/* live_frozen: bytes of a running process that stay as they were. Private to live*.c; not locked. */
#ifndef XC_LIVE_FROZEN_H
#define XC_LIVE_FROZEN_H

#include "core/base/base.h"

/* Room for all of them; each range counts as whole pages, so their number is bounded too. */
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

/* The first range that ends at or behind addr, or NULL. O(log n). */
const struct xc_live_frozen_range *xc_live_frozen_find(const struct xc_live_frozen *frozen, xc_addr addr);

/* Would another range of len bytes fit? */
bool xc_live_frozen_fits(const struct xc_live_frozen *frozen, uint64_t len);

/* Keep the len (at least 1) bytes of [lo, lo + len), which may not wrap; what is frozen already stays as it is. */
void xc_live_frozen_add(struct xc_live_frozen *frozen, xc_addr lo, const uint8_t *bytes, uint64_t len);

/* The same without a copy where nothing of it is frozen yet: bytes are taken, to be freed. */
void xc_live_frozen_take(struct xc_live_frozen *frozen, xc_addr lo, uint8_t *bytes, uint64_t len);

void xc_live_frozen_clear(struct xc_live_frozen *frozen);

#endif
