/* cursor: every read compares with what is left before it touches a byte. */
#include "core/base/cursor.h"

#include <string.h>

struct xc_cursor xc_cursor(const void *bytes, size_t len, const char *what)
{
	static const uint8_t nothing[1]; /* not NULL: pointer arithmetic and memchr do not allow it even for 0 bytes */
	const uint8_t *start = bytes ? bytes : nothing;
	return (struct xc_cursor){.at = start, .end = bytes ? start + len : start, .what = what};
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

/* Does a group of 7 bits at bit `shift` keep the value within 64 bits? Beyond bit 63 only padding is allowed: zeros,
 * or copies of the sign. */
static bool leb_fits(uint64_t value, unsigned shift, uint8_t group, bool is_signed)
{
	if (shift < 63)
		return true;
	uint8_t padding = is_signed && (shift == 63 ? group & 1 : value >> 63) ? 0x7f : 0;
	return group == padding || (shift == 63 && !is_signed && group == 1);
}

/* Both LEB128 forms; a signed value is sign-extended. */
static struct xc_error *leb(struct xc_cursor *c, bool is_signed, uint64_t *value_out)
{
	const uint8_t *at = c->at;
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;
	do {
		if (at == c->end)
			return xc_error_new(XC_ERR_FORMAT, "%s: cut short in a LEB128 number", c->what);
		byte = *at++;
		if (!leb_fits(value, shift, byte & 0x7f, is_signed))
			return xc_error_new(XC_ERR_FORMAT, "%s: LEB128 number of more than 64 bits", c->what);
		if (shift < 64) {
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		}
	} while (byte & 0x80);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	*value_out = value;
	c->at = at;
	return NULL;
}

struct xc_error *xc_cursor_uleb(struct xc_cursor *c, uint64_t *value_out)
{
	if (c->at != c->end && *c->at < 0x80) { /* the common case, above all in abbreviation tables */
		*value_out = *c->at++;
		return NULL;
	}
	return leb(c, false, value_out);
}

struct xc_error *xc_cursor_sleb(struct xc_cursor *c, int64_t *value_out)
{
	uint64_t value;
	struct xc_error *err = leb(c, true, &value);
	if (!err)
		*value_out = (int64_t)value;
	return err;
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
