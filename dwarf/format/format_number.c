/* format_number: integers and floats.
 *
 * A float has the number of decimal digits that its format needs (float.h). printf is slow, so it is used for floats
 * only. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/value/float.h"
#include "dwarf/format/format_impl.h"

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

#ifdef __SIZEOF_FLOAT128__
/* glibc 2.27 and later. Declared here, since its header offers it only to compilers that know _Float128. */
int xc_strfromf128(char *buf, size_t size, const char *format, __float128 number) __asm__("strfromf128");

static void add_quad(struct xc_text *text, unsigned __int128 bits)
{
	char buf[80];
	__float128 number;
	memcpy(&number, &bits, sizeof number);
	if (xc_strfromf128(buf, sizeof buf, "%.36g", number) > 0)
		xc_text_add(text, buf);
}
#else
static void add_quad(struct xc_text *text, unsigned __int128 bits)
{
	(void)bits;
	xc_text_add(text, "<__float128 is not supported here>");
}
#endif

/* nan(0x8000000000000): the fraction bits distinguish NaNs. */
static void add_nan(struct xc_text *text, unsigned __int128 bits, enum xc_float_kind kind)
{
	unsigned __int128 fraction = bits & (((unsigned __int128)1 << xc_float_fraction(kind)) - 1);
	xc_text_add(text, bits >> xc_float_sign(kind) & 1 ? "-nan(" : "nan(");
	if (fraction >> 64 != 0)
		xc_text_printf(text, "0x%llx%016llx", (unsigned long long)(fraction >> 64),
			       (unsigned long long)fraction);
	else
		xc_format_hex(text, (uint64_t)fraction);
	xc_text_char(text, ')');
}

/* The processor takes 80 bits for no number where the leading bit of the fraction is 0, but for numbers near 0 (Intel
 * SDM, volume 1, 8.2.2: pseudo-NaNs, pseudo-infinities, unnormals). */
static bool is_invalid(unsigned __int128 bits, enum xc_float_kind kind)
{
	return kind == XC_FLOAT_X87 && (bits >> 64 & 0x7fff) && !(bits >> 63 & 1);
}

bool xc_format_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type, uint64_t offset,
		     unsigned size)
{
	unsigned __int128 bits;
	long double number;
	char buf[64];
	if (!xc_value_load_bytes(value, offset, size, &bits))
		return false;
	enum xc_float_kind kind = xc_float_kind_of(type, size, value->process->arch);
	if (!xc_float_decode(kind, bits, &number)) {
		return xc_format_bytes(w, value, offset, size);
	} else if (is_invalid(bits, kind)) {
		xc_text_add(w->text, "<invalid float value>");
	} else if (isnan(number)) {
		add_nan(w->text, bits, kind);
	} else if (kind == XC_FLOAT_QUAD) {
		add_quad(w->text, bits);
	} else {
		int len = snprintf(buf, sizeof buf, "%.*Lg", (int)xc_float_digits(kind), number);
		xc_text_addn(w->text, buf, len > 0 ? (size_t)len : 0);
	}
	return true;
}
