/* format_number: digits.
 *
 * Floats get as many decimal digits as their format needs to be told apart, 1 + ⌈bits × log10 2⌉ as gdb counts: 5 for
 * half, 9 for float, 17 for double, 21 for x87, 36 for quad. printf is slow and used for floats only. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format_impl.h"
#include "slot.h"

void xc_format_decimal(struct xc_text *text, unsigned __int128 magnitude, bool negative)
{
	char digits[48];
	size_t at = sizeof digits;
	uint64_t low = (uint64_t)magnitude;
	while (magnitude >> 64 != 0) {
		digits[--at] = (char)('0' + (int)(magnitude % 10));
		magnitude /= 10;
		low = (uint64_t)magnitude;
	}
	do
		digits[--at] = (char)('0' + (int)(low % 10));
	while (low /= 10);
	if (negative)
		digits[--at] = '-';
	xc_text_addn(text, digits + at, sizeof digits - at);
}

void xc_format_integer(struct xc_text *text, uint64_t bits, bool is_signed)
{
	bool negative = is_signed && (int64_t)bits < 0;
	uint64_t magnitude = negative ? -bits : bits;
	xc_format_decimal(text, magnitude, negative);
}

void xc_format_hex(struct xc_text *text, uint64_t number)
{
	char digits[18];
	size_t at = sizeof digits;
	do
		digits[--at] = "0123456789abcdef"[number & 15];
	while (number >>= 4);
	digits[--at] = 'x';
	digits[--at] = '0';
	xc_text_addn(text, digits + at, sizeof digits - at);
}

static bool is_quad(const struct xc_type *type, unsigned size)
{
	return size == 16 && type->name &&
	       (strcmp(type->name, "_Float128") == 0 || strcmp(type->name, "__float128") == 0 ||
		strcmp(type->name, "complex _Float128") == 0);
}

#ifdef __SIZEOF_FLOAT128__
/* glibc 2.27 and later; declared here since its header offers it only to compilers that know _Float128. */
int xc_strfromf128(char *buf, size_t size, const char *format, __float128 number) __asm__("strfromf128");

static bool add_quad(struct xc_text *text, unsigned __int128 bits)
{
	char buf[80];
	__float128 number;
	memcpy(&number, &bits, sizeof number);
	if (number != number)
		xc_text_add(text, "nan");
	else if (xc_strfromf128(buf, sizeof buf, "%.36g", number) > 0)
		xc_text_add(text, buf);
	return true;
}
#else
static bool add_quad(struct xc_text *text, unsigned __int128 bits)
{
	(void)bits;
	xc_text_add(text, "<__float128 is not supported here>");
	return true;
}
#endif

/* nan(0x8000000000000): the fraction bits tell one NaN from another. */
static void add_nan(struct xc_text *text, unsigned __int128 bits, unsigned size, bool negative)
{
	unsigned fraction = size == 2 ? 10 : size == 4 ? 23 : size == 8 ? 52 : 64;
	uint64_t mask = fraction >= 64 ? UINT64_MAX : (UINT64_C(1) << fraction) - 1;
	xc_text_add(text, negative ? "-nan(" : "nan(");
	xc_format_hex(text, (uint64_t)bits & mask);
	xc_text_char(text, ')');
}

bool xc_format_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type, uint64_t offset,
		     unsigned size)
{
	unsigned __int128 bits = 0;
	long double number;
	char buf[64];
	if (size > sizeof bits || !xc_value_peek(value, offset, &bits, size))
		return false;
	if (is_quad(type, size))
		return add_quad(w->text, bits);
	if (!xc_slot_to_float(bits, size, &number)) {
		xc_text_add(w->text, "<a float of a size that is not supported>");
		return true;
	}
	if (isnan(number)) {
		unsigned sign = size >= 10 ? 79 : size * 8 - 1;
		add_nan(w->text, bits, size, bits >> sign & 1);
		return true;
	}
	int digits = size == 2 ? 5 : size == 4 ? 9 : size == 8 ? 17 : 21;
	int len = snprintf(buf, sizeof buf, "%.*Lg", digits, number);
	xc_text_addn(w->text, buf, len > 0 ? (size_t)len : 0);
	return true;
}
