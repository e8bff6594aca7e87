/* format_fixed: fixed-point numbers: integers that count a unit (DWARF 5, 5.1.1.1).
 *
 * The unit is 2^n (DW_AT_binary_scale), 10^n (DW_AT_decimal_scale) or any rational (DW_AT_small: gcc's constant with
 * numerator and denominator). A long double holds each integer of 64 bits, so powers of two are exact. */
#include <dwarf.h>
#include <math.h>
#include <stdio.h>

#include "dwarf/format/format_impl.h"
#include "dwarf/module/die.h"
#include "dwarf/types/type_die.h"

enum { MAX_SCALE = 1024 };

static bool rational(Dwarf_Die *type, long double *unit_out)
{
	Dwarf_Die constant;
	uint64_t above, below;
	if (!xc_die_ref(type, DW_AT_small, &constant) || !xc_die_number(&constant, DW_AT_GNU_numerator, &above) ||
	    !xc_die_number(&constant, DW_AT_GNU_denominator, &below) || below == 0)
		return false;
	*unit_out = (long double)above / (long double)below;
	return true;
}

static long double scaled(long double number, unsigned base, int64_t scale)
{
	if (base == 2)
		return ldexpl(number, (int)scale);
	long double power = powl(10, (long double)(scale < 0 ? -scale : scale));
	return scale < 0 ? number / power : number * power; /* 10^-n is not exact */
}

/* The integer times its unit. */
static bool in_units(const struct xc_type *type, long double number, long double *out)
{
	Dwarf_Die die;
	uint64_t bits;
	long double unit;
	if (!xc_type_die_of(type, &die))
		return false;
	bool binary = xc_die_number(&die, DW_AT_binary_scale, &bits);
	if (!binary && !xc_die_number(&die, DW_AT_decimal_scale, &bits)) {
		bool known = rational(&die, &unit);
		*out = known ? number * unit : 0;
		return known;
	}
	int64_t scale = (int64_t)bits;
	if (scale > MAX_SCALE || scale < -MAX_SCALE)
		return false;
	*out = scaled(number, binary ? 2 : 10, scale);
	return true;
}

bool xc_format_fixed(struct xc_writer *w, const struct xc_value *value, const struct xc_type *type)
{
	unsigned __int128 bits;
	long double number;
	char text[64];
	bool is_signed = type->encoding == DW_ATE_signed_fixed;
	if ((!is_signed && type->encoding != DW_ATE_unsigned_fixed) || type->size == 0 || type->size > 8 ||
	    value->bit_size > 0 || type->is_swapped || !xc_value_load_bytes(value, 0, (unsigned)type->size, &bits))
		return false;
	uint64_t word = xc_extend((uint64_t)bits, (unsigned)type->size * 8, is_signed);
	number = is_signed ? (long double)(int64_t)word : (long double)word;
	if (!in_units(type, number, &number))
		return false;
	snprintf(text, sizeof text, "%.17Lg", number);
	xc_text_add(w->text, text);
	return true;
}
