/* cursor: every read compares with what is left before it touches a byte. */
#include "cursor.h"

#include <string.h>

struct xc_cursor xc_cursor(const void *bytes, size_t len, const char *what)
{
	const uint8_t *start = bytes;
	return (struct xc_cursor){.at = start, .end = start ? start + len : start, .what = what};
}

struct xc_error *xc_cursor_take(struct xc_cursor *c, size_t len, const void **bytes_out)
{
	if (len > xc_cursor_left(c))
		return xc_error_new(XC_ERR_FORMAT, "%s: cut short: %zu bytes wanted, %zu left", c->what, len,
				    xc_cursor_left(c));
	*bytes_out = c->at;
	c->at += len;
	return NULL;
}

struct xc_error *xc_cursor_skip(struct xc_cursor *c, size_t len)
{
	const void *skipped;
	return xc_cursor_take(c, len, &skipped);
}

uint64_t xc_load_uint(const void *bytes, size_t size, bool big_endian)
{
	const uint8_t *p = bytes;
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		value = value << 8 | p[big_endian ? i : size - 1 - i];
	return value;
}

struct xc_error *xc_cursor_uint(struct xc_cursor *c, size_t size, uint64_t *value_out)
{
	const void *bytes = NULL;
	struct xc_error *err = xc_cursor_take(c, size, &bytes);
	if (!err)
		*value_out = xc_load_uint(bytes, size, c->big_endian);
	return err;
}

/* Both LEB128 forms: payload bits into *value, number of bits into *shift. */
static struct xc_error *leb(struct xc_cursor *c, uint64_t *value, unsigned *shift, uint8_t *last)
{
	const uint8_t *at = c->at;
	*value = 0;
	*shift = 0;
	do {
		if (at == c->end)
			return xc_error_new(XC_ERR_FORMAT, "%s: cut short in a LEB128 number", c->what);
		*last = *at++;
		bool fits = *shift < 63 || (*shift == 63 && ((*last & 0x7f) <= 1 || (*last & 0x7f) == 0x7f));
		if (!fits)
			return xc_error_new(XC_ERR_FORMAT, "%s: LEB128 number of more than 64 bits", c->what);
		*value |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while (*last & 0x80);
	c->at = at;
	return NULL;
}

struct xc_error *xc_cursor_uleb(struct xc_cursor *c, uint64_t *value_out)
{
	uint64_t value;
	unsigned shift;
	uint8_t last;
	struct xc_error *err = leb(c, &value, &shift, &last);
	if (!err)
		*value_out = value;
	return err;
}

struct xc_error *xc_cursor_sleb(struct xc_cursor *c, int64_t *value_out)
{
	uint64_t value;
	unsigned shift;
	uint8_t last;
	struct xc_error *err = leb(c, &value, &shift, &last);
	if (err)
		return err;
	if (shift < 64 && (last & 0x40))
		value |= UINT64_MAX << shift;
	*value_out = (int64_t)value;
	return NULL;
}

struct xc_error *xc_cursor_string(struct xc_cursor *c, const char **string_out)
{
	const void *nul = memchr(c->at, 0, xc_cursor_left(c));
	if (!nul)
		return xc_error_new(XC_ERR_FORMAT, "%s: string without an end", c->what);
	*string_out = (const char *)c->at;
	c->at = (const uint8_t *)nul + 1;
	return NULL;
}
