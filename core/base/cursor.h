/* cursor: reads a range of untrusted bytes from front to back, never past its end.
 *
 * A failed read does not advance. Lengths are compared with the bytes left, by subtraction. */
#ifndef XC_CURSOR_H
#define XC_CURSOR_H

#include "core/base/error.h"

struct xc_cursor {
	const uint8_t *at, *end;
	bool big_endian;  /* order of the integers that xc_cursor_u* read */
	const char *what; /* names the bytes in errors, such as "NT_FILE"; borrowed */
};

struct xc_cursor xc_cursor(const void *bytes, size_t len, const char *what); /* little-endian */

static inline size_t xc_cursor_left(const struct xc_cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* Borrow len bytes and advance; the bytes may be unaligned. Errors: XC_ERR_FORMAT "cut short". */
XC_MUST_CHECK struct xc_error *xc_cursor_take(struct xc_cursor *c, size_t len, const void **bytes_out);
XC_MUST_CHECK struct xc_error *xc_cursor_skip(struct xc_cursor *c, size_t len);

/* Integers of 1, 2, 4 or 8 bytes in the cursor's order. */
XC_MUST_CHECK struct xc_error *xc_cursor_uint(struct xc_cursor *c, size_t size, uint64_t *value_out);

/* LEB128 (DWARF 5, 7.6), padded or not. A value of more than 64 bits is XC_ERR_FORMAT. */
XC_MUST_CHECK struct xc_error *xc_cursor_uleb(struct xc_cursor *c, uint64_t *value_out);
XC_MUST_CHECK struct xc_error *xc_cursor_sleb(struct xc_cursor *c, int64_t *value_out);

/* A NUL-terminated string whose terminator lies inside the range. Borrowed. */
XC_MUST_CHECK struct xc_error *xc_cursor_string(struct xc_cursor *c, const char **string_out);

/* Load an integer of `size` bytes. The caller has checked the length. */
uint64_t xc_load_uint(const void *bytes, size_t size, bool big_endian);

#endif
