/* format_letter: scalars in the format of `print /x`: the bits of the value, whatever its type.
 *
 *	x 0xff   z 0x000000ff   d -1   u 255   o 0377   t 11111111   c 97 'a'   a 0x401136 <main+4>   f bits as a float
 *
 * As in gdb: /c and /a convert a float, the other letters show its bits; /f of an integer with the width of a float
 * shows its bits as a float; a function is its address. */
#include "dwarf/format/format_impl.h"

#include <string.h>

/* Digits of base 2^shift; padded to `least`. */
static void write_digits(struct xc_text *text, unsigned __int128 bits, unsigned shift, unsigned least)
{
	char digits[132];
	size_t at = sizeof digits;
	while (bits || sizeof digits - at < (least ? least : 1)) {
		digits[--at] = "0123456789abcdef"[(unsigned)bits & ((1u << shift) - 1)];
		bits >>= shift;
	}
	xc_text_addn(text, digits + at, sizeof digits - at);
}

static unsigned __int128 low(unsigned __int128 bits, unsigned width)
{
	return width >= 128 ? bits : bits & (((unsigned __int128)1 << width) - 1);
}

static unsigned __int128 extended(unsigned __int128 bits, unsigned width)
{
	unsigned shift = width >= 128 ? 0 : 128 - width;
	return (unsigned __int128)((__int128)(bits << shift) >> shift);
}

static void write_character(struct xc_writer *w, unsigned __int128 bits, const struct xc_type *type)
{
	uint64_t unit = (uint8_t)bits;
	if (type->is_signed)
		unit = (uint64_t)(int64_t)(int8_t)unit;
	xc_format_char(w, unit, type->is_signed, 1, "");
}

/* The bits as a float of their size; false when there is none. */
static bool write_as_float(struct xc_writer *w, const struct xc_value *value, unsigned __int128 bits, unsigned width)
{
	unsigned size = width / 8;
	struct xc_type real = {.kind = XC_TYPE_FLOAT, .size = size, .size_known = true, .name = ""};
	struct xc_value one = xc_value_small(value->process, &real, &bits, sizeof bits);
	if (width % 8 || (size != 4 && size != 8 && size != 10 && size != 16))
		return false;
	return xc_format_float(w, &one, &real, 0, size);
}

static void write_bits(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type,
		       unsigned __int128 bits, unsigned width)
{
	bool negative;
	switch (w->options->letter) {
	case 'x':
		xc_text_add(w->text, "0x");
		write_digits(w->text, low(bits, width), 4, 1);
		break;
	case 'z':
		xc_text_add(w->text, "0x");
		write_digits(w->text, low(bits, width), 4, (width + 3) / 4);
		break;
	case 't':
		write_digits(w->text, low(bits, width), 1, 1);
		break;
	case 'o':
		xc_text_add(w->text, low(bits, width) ? "0" : "");
		write_digits(w->text, low(bits, width), 3, 1);
		break;
	case 'u':
		xc_format_decimal(w->text, low(bits, width), false);
		break;
	case 'c':
		write_character(w, bits, type);
		break;
	case 'a':
		xc_format_hex(w->text, (uint64_t)low(bits, width));
		xc_format_symbol(w, value->process, (xc_addr)low(bits, width));
		break;
	case 'f':
		if (write_as_float(w, value, low(bits, width), width))
			break;
		negative = type->is_signed && (__int128)extended(bits, width) < 0;
		bits = type->is_signed ? extended(bits, width) : low(bits, width);
		xc_format_decimal(w->text, negative ? -bits : bits, negative);
		break;
	default: /* d */
		bits = extended(bits, width);
		negative = (__int128)bits < 0;
		xc_format_decimal(w->text, negative ? -bits : bits, negative);
		break;
	}
}

/* /c and /a convert a float to an integer; other letters use its bits. */
static bool float_bits(const struct xc_writer *w, const struct xc_value *value, const struct xc_type *type,
		       unsigned __int128 *bits_out, unsigned *width_out)
{
	long double real;
	unsigned size = (unsigned)type->size;
	bool converts = w->options->letter == 'c' || w->options->letter == 'a';
	*bits_out = 0;
	*width_out = size == 16 ? 80 : size * 8;
	if (size == 0 || size > 16 || !xc_value_peek(value, 0, bits_out, size))
		return false;
	if (!converts)
		return true;
	if (!xc_value_load_float(value, 0, size, &real) || !(real > -9e18L && real < 9e18L))
		return false;
	*bits_out = (unsigned __int128)(__int128)real;
	*width_out = 64;
	return true;
}

bool xc_format_letter(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	unsigned __int128 bits;
	unsigned width = value->bit_size ? value->bit_size : (unsigned)type->size * 8;
	switch (type->kind) {
	case XC_TYPE_FLOAT:
		if (w->options->letter == 'f' || !float_bits(w, value, type, &bits, &width))
			return false;
		break;
	case XC_TYPE_FUNCTION:
		if (w->options->letter == 'a' || value->kind != XC_VALUE_MEMORY)
			return false;
		bits = value->addr;
		width = 64;
		break;
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
	case XC_TYPE_BOOL:
	case XC_TYPE_ENUM:
	case XC_TYPE_POINTER:
		if (!xc_value_load_wide(value, &bits))
			return false;
		break;
	default:
		return false;
	}
	write_bits(w, value, type, bits, width);
	return true;
}
