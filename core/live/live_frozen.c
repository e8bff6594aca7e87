/* live_frozen: a sorted array. A new range is cut at the existing ones, so that ranges never overlap. */
#include "core/live/live_frozen.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 4096 }; /* the smallest counted size of a range */

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
	f->used += cost(len);
}

static uint8_t *copy(const uint8_t *bytes, uint64_t len)
{
	return memcpy(xc_alloc(len), bytes, len);
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
		bytes += step;
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
