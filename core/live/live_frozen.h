/* live_frozen: copies in front of the memory of a running process: frozen ranges, and a window that shows the stack
 * of a thread as it was when the kernel copied it with a sample. Private to live*.c; not thread-safe. */
#ifndef XC_LIVE_FROZEN_H
#define XC_LIVE_FROZEN_H

#include "core/base/base.h"

/* The limit on all ranges. Each counts as whole pages, so their number is bounded too. */
#define XC_FROZEN_MAX (UINT64_C(256) << 20)

struct xc_live_frozen_range {
	xc_addr lo, hi; /* inclusive */
	uint8_t *bytes; /* NULL: they are not known, and cannot be read */
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

/* Copy the len >= 1 bytes of [lo, lo + len), which must not wrap; bytes NULL: they cannot be read from now on. Bytes
 * that are frozen already do not change. */
void xc_live_frozen_add(struct xc_live_frozen *frozen, xc_addr lo, const uint8_t *bytes, uint64_t len);

/* The same, but takes the malloc'ed bytes and does not copy them if none are frozen yet. */
void xc_live_frozen_take(struct xc_live_frozen *frozen, xc_addr lo, uint8_t *bytes, uint64_t len);

void xc_live_frozen_clear(struct xc_live_frozen *frozen);

/* ---- the window ---- */

struct xc_live_region;

/* The most that is read of the stack above the copy. */
enum { XC_LIVE_LATE = 256 << 10 };

/* Reads the present bytes inside one region, past the cache; from the front, and returns their number. */
typedef size_t xc_live_read_fn(struct xc_live_region *region, xc_addr addr, uint8_t *buf, size_t len);

struct xc_live_window {
	xc_addr lo, end; /* inclusive; end 0: there is no window */
	const uint8_t *bytes;
	size_t len;      /* of bytes, from lo on; may be 0 */
	xc_addr late_lo; /* bytes read later, from the first requested address above `bytes` */
	size_t late_len; /* 0: nothing yet */
	uint8_t *late;   /* XC_LIVE_LATE bytes, owned; NULL before the first use */
};

/* As xc_live_show. */
void xc_live_window_set(struct xc_live_window *window, xc_addr lo, const uint8_t *bytes, size_t len, xc_addr end);
void xc_live_window_fini(struct xc_live_window *window);

/* As xc_live_hold. */
void xc_live_window_hold(const struct xc_live_window *window, struct xc_live_frozen *frozen, bool whole);

static inline bool xc_live_window_has(const struct xc_live_window *window, xc_addr addr)
{
	return addr >= window->lo && addr <= window->end && window->end;
}

/* Copy up to len bytes at addr, which the window and the region have; region_hi is the last address of the region. */
size_t xc_live_window_read(struct xc_live_window *window, struct xc_live_region *region, xc_addr region_hi,
			   xc_live_read_fn *fresh, xc_addr addr, uint8_t *buf, size_t len);

#endif
