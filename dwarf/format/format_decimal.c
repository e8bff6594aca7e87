/* format_decimal: IEEE 754 decimal floats (_Decimal32, _Decimal64, _Decimal128) in the encoding of x86, BID.
 *
 *	sign | exponent | coefficient                       IEEE 754-2019, 3.5.2; System V psABI for x86-64, 3.1.2
 *	sign | 11 | exponent | coefficient without 100      when its leading digit is 8 or 9
 *	sign | 11110 infinity, 11111 NaN
 *
 * A coefficient with more digits than the format allows means 0. The text is that of gdb: General Decimal Arithmetic
 * 1.70, to-scientific-string. Other machines use another encoding (DPD), which is not supported. */
#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/format/format_impl.h"

struct decimal {
	unsigned __int128 coefficient;
	int exponent;
	bool negative;
	const char *special; /* "Infinity", "NaN"; NULL for numbers */
};

static const struct layout {
	uint8_t size, exponent_bits, digits;
	int bias;
} layouts[] = {{4, 8, 7, 101}, {8, 10, 16, 398}, {16, 14, 34, 6176}};

static unsigned __int128 low(unsigned __int128 bits, unsigned count)
{
	return bits & (((unsigned __int128)1 << count) - 1);
}

static struct decimal decode(const struct layout *layout, unsigned __int128 bits)
{
	unsigned width = layout->size * 8u,
		 tail = width - 1 - layout->exponent_bits; /* bits of the shorter coefficient */
	struct decimal out = {.negative = bits >> (width - 1) & 1};
	unsigned top = (unsigned)low(bits >> (width - 6), 5);
	unsigned __int128 limit = 1;
	for (unsigned i = 0; i < layout->digits; i++)
		limit *= 10;
	if (top >= 30) {
		out.special = top == 30 ? "Infinity" : low(bits >> (width - 7), 1) ? "sNaN" : "NaN";
		return out;
	}
	if (top >> 3 == 3) {
		out.exponent = (int)low(bits >> (tail - 2), layout->exponent_bits);
		out.coefficient = low(bits, tail - 2) | (unsigned __int128)1 << tail;
	} else {
		out.exponent = (int)low(bits >> tail, layout->exponent_bits);
		out.coefficient = low(bits, tail);
	}
	if (out.coefficient >= limit)
		out.coefficient = 0;
	out.exponent -= layout->bias;
	return out;
}

static void add_scientific(struct xc_text *text, const char *digits, int count, int adjusted)
{
	xc_text_char(text, digits[0]);
	if (count > 1)
		xc_text_printf(text, ".%s", digits + 1);
	xc_text_printf(text, "E%+d", adjusted);
}

static void add_number(struct xc_text *out, const struct decimal *d)
{
	struct xc_text text = {0};
	xc_format_decimal(&text, d->coefficient, false);
	const char *digits = xc_text_string(&text);
	int count = (int)text.len, adjusted = d->exponent + count - 1;
	if (d->exponent > 0 || adjusted < -6) {
		add_scientific(out, digits, count, adjusted);
	} else if (d->exponent == 0) {
		xc_text_add(out, digits);
	} else if (count + d->exponent > 0) {
		xc_text_printf(out, "%.*s.%s", count + d->exponent, digits, digits + count + d->exponent);
	} else {
		xc_text_printf(out, "0.%.*s%s", -(count + d->exponent), "000000", digits);
	}
	xc_text_fini(&text);
}

bool xc_format_decimal_float(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	uint16_t machine = value->process->arch->machine;
	unsigned __int128 bits = 0;
	if (type->encoding != DW_ATE_decimal_float || (machine != EM_X86_64 && machine != EM_386))
		return false;
	for (size_t i = 0; i < XC_COUNT(layouts); i++) {
		if (type->size != layouts[i].size || !xc_value_peek(value, 0, &bits, layouts[i].size))
			continue;
		struct decimal d = decode(&layouts[i], bits);
		xc_text_add(w->text, d.negative ? "-" : "");
		if (d.special)
			xc_text_add(w->text, d.special);
		else
			add_number(w->text, &d);
		return true;
	}
	return false;
}
