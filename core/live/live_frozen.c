/* live_frozen: a sorted array. A new range is cut at the existing ones, so that ranges never overlap. */
#include "core/live/live_frozen.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 4096 }; /* the smallest counted size of a range */

/* Below the stack pointer a function that calls none may have variables (x86-64 psABI 3.2.2); they are not copied. */
enum { RED_ZONE = 128 };

/* A stack may be part of a larger mapping, with other stacks above it, as those of goroutines are. */
enum { MOST_STACK = 8 << 20 };

static uint64_t cost(uint64_t len)
{
	return (len + LEAST - 1) / LEAST * LEAST;
}

/* The index of the first range that ends at addr or above; count when there is none. */
static size_t index_of(const struct xc_live_frozen *f, xc_addr addr)
{
	return XC_LOWER_BOUND(f->count, i, f->ranges[i].hi < addr);
}

const struct xc_live_frozen_range *xc_live_frozen_find(const struct xc_live_frozen *f, xc_addr addr)
{
	size_t at = index_of(f, addr);
	return at < f->count ? &f->ranges[at] : NULL;
}

bool xc_live_frozen_fits(const struct xc_live_frozen *f, uint64_t len)
{
	return len <= XC_FROZEN_MAX && f->used <= XC_FROZEN_MAX && cost(len) <= XC_FROZEN_MAX - f->used;
}

static void insert(struct xc_live_frozen *f, size_t at, xc_addr lo, uint8_t *bytes, uint64_t len)
{
	f->ranges = xc_grow(f->ranges, f->count, &f->capacity, sizeof *f->ranges);
	memmove(f->ranges + at + 1, f->ranges + at, (f->count - at) * sizeof *f->ranges);
	f->ranges[at] = (struct xc_live_frozen_range){lo, lo + (len - 1), bytes};
	f->count++;
	f->used += bytes ? cost(len) : LEAST;
}

static uint8_t *copy(const uint8_t *bytes, uint64_t len)
{
	return bytes ? memcpy(xc_alloc(len), bytes, len) : NULL;
}

void xc_live_frozen_add(struct xc_live_frozen *f, xc_addr lo, const uint8_t *bytes, uint64_t len)
{
	while (len) {
		size_t at = index_of(f, lo);
		const struct xc_live_frozen_range *next = at < f->count ? &f->ranges[at] : NULL;
		uint64_t step = next && next->lo <= lo + (len - 1) ? next->lo - lo : len; /* up to the next one */
		if (next && next->lo <= lo)
			step = next->hi - lo < len ? next->hi - lo + 1 : len; /* skip an existing one */
		else
			insert(f, at, lo, copy(bytes, step), step);
		lo += step;
		bytes += bytes ? step : 0;
		len -= step;
	}
}

void xc_live_frozen_take(struct xc_live_frozen *f, xc_addr lo, uint8_t *bytes, uint64_t len)
{
	size_t at = index_of(f, lo);
	if (at < f->count && f->ranges[at].lo <= lo + (len - 1)) {
		xc_live_frozen_add(f, lo, bytes, len);
		free(bytes);
	} else {
		insert(f, at, lo, bytes, len);
	}
}

void xc_live_frozen_clear(struct xc_live_frozen *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->ranges[i].bytes);
	free(f->ranges);
	*f = (struct xc_live_frozen){0};
}

/* ---- the window ---- */

void xc_live_window_set(struct xc_live_window *w, xc_addr lo, const uint8_t *bytes, size_t len, xc_addr end)
{
	*w = (struct xc_live_window){.lo = lo, .end = end, .bytes = bytes, .len = len, .late = w->late};
}

void xc_live_window_fini(struct xc_live_window *w)
{
	free(w->late);
	*w = (struct xc_live_window){0};
}

void xc_live_window_hold(const struct xc_live_window *w, struct xc_live_frozen *f, bool whole)
{
	const bool late = whole && w->late_len;
	const xc_addr from = w->lo - RED_ZONE, copied = w->lo + w->len;
	xc_addr top = whole ? late ? w->late_lo : copied : copied + MOST_STACK;
	if (!w->end)
		return;
	if (w->len)
		xc_live_frozen_add(f, w->lo, w->bytes, w->len);
	if (late)
		xc_live_frozen_add(f, w->late_lo, w->late, w->late_len);
	top = top <= w->end ? top : w->end + 1;
	xc_live_frozen_add(f, from, NULL, top - from);
}

/* What the callers far up need comes with one call, so that it is of one instant. Stacks are unwound upwards, and the
 * pages below the first address that is wanted may be the many of a large array. */
static void load_late(struct xc_live_window *w, struct xc_live_region *r, xc_addr region_hi, xc_live_read_fn *fresh,
		      xc_addr from)
{
	const xc_addr last = w->end < region_hi ? w->end : region_hi;
	if (w->late_len || from > last)
		return;
	w->late_lo = from;
	if (!w->late)
		w->late = xc_alloc(XC_LIVE_LATE);
	w->late_len = fresh(r, from, w->late, last - from < XC_LIVE_LATE ? (size_t)(last - from) + 1 : XC_LIVE_LATE);
}

/* Copy what there is at addr in `from`, which has `have` bytes from lo on. */
static size_t copy_from(uint8_t *buf, size_t len, const uint8_t *from, size_t have, xc_addr lo, xc_addr addr)
{
	const xc_addr skip = addr - lo;
	const size_t left = addr >= lo && skip < have ? have - skip : 0, count = left < len ? left : len;
	if (count)
		memcpy(buf, from + skip, count);
	return count;
}

size_t xc_live_window_read(struct xc_live_window *w, struct xc_live_region *r, xc_addr region_hi,
			   xc_live_read_fn *fresh, xc_addr addr, uint8_t *buf, size_t len)
{
	size_t done = copy_from(buf, len, w->bytes, w->len, w->lo, addr);
	if (done == len)
		return done;
	load_late(w, r, region_hi, fresh, addr + done);
	done += copy_from(buf + done, len - done, w->late, w->late_len, w->late_lo, addr + done);
	return done < len ? done + fresh(r, addr + done, buf + done, len - done) : done;
}
