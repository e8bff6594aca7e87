/* layer: core
 *
 * The cursor against a reader with only an index and a length, and LEB128 in 128-bit arithmetic. */
#include "tests/support/property.h"

#include "core/base/cursor.h"

enum { SIZE = 48 };

struct naive {
	const uint8_t *bytes;
	size_t at, len;
	bool big_endian;
};

static bool naive_uint(struct naive *n, size_t size, uint64_t *value)
{
	if (n->at + size > n->len)
		return false;
	*value = 0;
	for (size_t i = 0; i < size; i++)
		*value |= (uint64_t)n->bytes[n->at + i] << 8 * (n->big_endian ? size - 1 - i : i);
	n->at += size;
	return true;
}

/* Exact up to 17 bytes, which is longer than any number in the test. */
static bool naive_leb(struct naive *n, bool is_signed, uint64_t *out)
{
	__int128 value = 0;
	unsigned shift = 0;
	size_t at = n->at;
	uint8_t byte;
	do {
		if (at == n->len)
			return false;
		byte = n->bytes[at++];
		value |= (__int128)((unsigned __int128)(byte & 0x7f) << shift);
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && (byte & 0x40))
		value |= (__int128)(~(unsigned __int128)0 << shift);
	if (is_signed ? value < INT64_MIN || value > INT64_MAX : value < 0 || value > UINT64_MAX)
		return false;
	*out = (uint64_t)value;
	n->at = at;
	return true;
}

static bool naive_string(struct naive *n, const char **out)
{
	for (size_t i = n->at; i < n->len; i++)
		if (!n->bytes[i]) {
			*out = (const char *)n->bytes + n->at;
			n->at = i + 1;
			return true;
		}
	return false;
}

/* Bytes that form long and short LEB128 numbers, strings and edge cases. */
static void random_bytes(struct rng *rng, uint8_t *bytes, size_t len)
{
	static const uint8_t edges[] = {0, 0x7f, 0x80, 0xff, 1, 0x40, 0xc0};
	size_t run = 0;
	for (size_t i = 0; i < len; i++) {
		bytes[i] = rng_below(rng, 3) ? edges[rng_below(rng, XC_COUNT(edges))] : (uint8_t)rng_next(rng);
		run = bytes[i] & 0x80 ? run + 1 : 0;
		if (run > 14)
			bytes[i] = (uint8_t)(bytes[i] & 0x7f), run = 0;
	}
}

static void check_step(struct rng *rng, struct xc_cursor *c, struct naive *n)
{
	static const size_t sizes[] = {1, 2, 4, 8};
	uint64_t wanted = 0, got = 0;
	int64_t sgot = 0;
	const char *swanted = NULL, *string = NULL;
	const void *bytes = NULL;
	size_t size = sizes[rng_below(rng, 4)], len = rng_below(rng, 10);
	bool ok;
	struct xc_error *err;
	switch (rng_below(rng, 5)) {
	case 0:
		ok = naive_uint(n, size, &wanted);
		err = xc_cursor_uint(c, size, &got);
		break;
	case 1:
		ok = naive_leb(n, false, &wanted);
		err = xc_cursor_uleb(c, &got);
		break;
	case 2:
		ok = naive_leb(n, true, &wanted);
		err = xc_cursor_sleb(c, &sgot);
		got = (uint64_t)sgot;
		break;
	case 3:
		ok = naive_string(n, &swanted);
		err = xc_cursor_string(c, &string);
		break;
	default:
		ok = n->at + len <= n->len;
		swanted = ok ? (const char *)n->bytes + n->at : NULL;
		n->at += ok ? len : 0;
		err = xc_cursor_take(c, len, &bytes);
		string = bytes;
	}
	PROPERTY_CHECK(rng, (err == NULL) == ok);
	PROPERTY_CHECK(rng, got == wanted && string == swanted);
	PROPERTY_CHECK(rng, xc_cursor_left(c) == n->len - n->at);
	PROPERTY_CHECK(rng, !err || err->code == XC_ERR_FORMAT);
	xc_error_free(err);
}

PROPERTY(cursor_agrees_with_a_naive_reader, 10000, 30000)
{
	size_t len = rng_below(rng, SIZE);
	uint8_t *bytes = malloc(len ? len : 1); /* exact size, so that ASan detects a read past it */
	random_bytes(rng, bytes, len);
	struct naive n = {bytes, 0, len, rng_below(rng, 2) != 0};
	struct xc_cursor c = xc_cursor(bytes, len, "random");
	c.big_endian = n.big_endian;
	for (int i = 0; i < 20; i++)
		check_step(rng, &c, &n);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cursor_agrees_with_a_naive_reader),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
