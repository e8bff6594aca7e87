/* take: numbers from a cursor, with false instead of an error object: for readers that need no reason why bytes are
 * damaged. */
#ifndef XC_TAKE_H
#define XC_TAKE_H

#include "core/base/cursor.h"

/* An integer of at most 8 bytes, of any width. A failed take never advances. */
static inline bool xc_take_uint(struct xc_cursor *c, size_t size, uint64_t *value_out)
{
	if (size > xc_cursor_left(c))
		return false;
	*value_out = xc_load_uint(c->at, size, c->big_endian);
	c->at += size;
	return true;
}

/* LEB128: false also for values of more than 64 bits. */
static inline bool xc_take_uleb(struct xc_cursor *c, uint64_t *value_out)
{
	struct xc_error *err = xc_cursor_uleb(c, value_out);
	xc_error_free(err);
	return !err;
}

static inline bool xc_take_sleb(struct xc_cursor *c, int64_t *value_out)
{
	struct xc_error *err = xc_cursor_sleb(c, value_out);
	xc_error_free(err);
	return !err;
}

/* The next `size` bytes. */
static inline bool xc_take_part(struct xc_cursor *c, uint64_t size, struct xc_cursor *part_out)
{
	if (size > xc_cursor_left(c))
		return false;
	*part_out = *c;
	part_out->end = c->at += size;
	return true;
}

#endif
