/* live_cache: a cache of a fixed number of pages of a running process. Private to live*.c; not thread-safe.
 *
 * A slot is taken before its page is read, then filled or released. Pages are replaced by the clock algorithm. */
#ifndef XC_LIVE_CACHE_H
#define XC_LIVE_CACHE_H

#include "core/base/base.h"

static const uint32_t XC_NO_SLOT = UINT32_MAX;

struct xc_live_cache {
	size_t page_size;
	struct xc_live_slot *slots;
	uint8_t *data;   /* slot_count pages */
	uint32_t *heads; /* hash table, 2 * slot_count */
	uint32_t slot_count, hand;
	uint32_t used; /* slots from 0 on that the hand passed since all were cleared */
};

void xc_live_cache_init(struct xc_live_cache *cache, size_t page_size, size_t bytes);
void xc_live_cache_fini(struct xc_live_cache *cache);
void xc_live_cache_clear(struct xc_live_cache *cache); /* no slot may be taken */

/* The slot of a page; XC_NO_SLOT when it is not here. */
uint32_t xc_live_cache_find(const struct xc_live_cache *cache, xc_addr page);
void xc_live_cache_touch(struct xc_live_cache *cache, uint32_t slot); /* mark it as used */

/* Take a slot for a page to be loaded, evicting its page. Only a small part of the slots may be taken at a time. */
uint32_t xc_live_cache_take(struct xc_live_cache *cache);
/* After its bytes were written. `used`: they are wanted now. */
void xc_live_cache_fill(struct xc_live_cache *cache, uint32_t slot, xc_addr page, bool used);
void xc_live_cache_release(struct xc_live_cache *cache, uint32_t slot);

/* Has a slot a page that was used since it was filled? */
bool xc_live_cache_touched(const struct xc_live_cache *cache, uint32_t slot, xc_addr *page_out);

/* The page_size bytes of a slot. */
uint8_t *xc_live_cache_bytes(const struct xc_live_cache *cache, uint32_t slot);

#endif
