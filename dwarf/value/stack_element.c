/* stack_element: arithmetic of the DWARF stack.
 *
 * Integers are kept in 128 bits and cut to their size after each operator. Floats are computed as long double, which
 * represents every float and double exactly, and rounded to their size. Generic words follow DWARF 5 section 2.5.1.4:
 * div and the comparisons are signed, mod and shr are not. */
#include "dwarf/value/stack_element.h"

#include <dwarf.h>
#include <math.h>
#include <string.h>

#include "dwarf/value/arith.h"
#include "dwarf/value/float.h"

static const unsigned operators[DW_OP_ne + 1] = {
	[DW_OP_and] = '&',
	[DW_OP_div] = '/',
	[DW_OP_minus] = '-',
	[DW_OP_mod] = '%',
	[DW_OP_mul] = '*',
	[DW_OP_or] = '|',
	[DW_OP_plus] = '+',
	[DW_OP_shl] = XC_OP2('<', '<'),
	[DW_OP_shr] = XC_OP2('>', '>'),
	[DW_OP_shra] = XC_OP2('>', '>'),
	[DW_OP_xor] = '^',
	[DW_OP_eq] = XC_OP2('=', '='),
	[DW_OP_ge] = XC_OP2('>', '='),
	[DW_OP_gt] = '>',
	[DW_OP_le] = XC_OP2('<', '='),
	[DW_OP_lt] = '<',
	[DW_OP_ne] = XC_OP2('!', '='),
};

static unsigned __int128 mask(unsigned __int128 bits, unsigned size)
{
	return xc_arith_extend(bits, size, false);
}

/* The number, extended by its sign if the operator takes it as signed. */
static unsigned __int128 number_of(const struct xc_stack_element *element, bool is_signed)
{
	return is_signed ? xc_arith_extend(element->bits, element->size, true) : element->bits;
}

/* Is the operator signed for generic words (DWARF 5, 2.5.1.4)? */
static bool is_signed(unsigned atom, enum xc_stack_element_kind kind)
{
	bool generic = atom == DW_OP_div || atom == DW_OP_shra || (atom >= DW_OP_eq && atom <= DW_OP_ne);
	return kind == XC_ELEMENT_SIGNED || atom == DW_OP_shra || (kind == XC_ELEMENT_GENERIC && generic);
}

struct xc_stack_element xc_stack_element_word(uint64_t value, unsigned word)
{
	return (struct xc_stack_element){.bits = mask(value, word), .kind = XC_ELEMENT_GENERIC, .size = word};
}

bool xc_stack_element_typed(const struct xc_type *type, unsigned __int128 bits, struct xc_stack_element *out)
{
	type = xc_type_strip(type);
	if (!type->size_known || type->size == 0 || type->size > 16)
		return false;
	enum xc_stack_element_kind kind;
	switch (type->kind) {
	case XC_TYPE_FLOAT:
		kind = XC_ELEMENT_FLOAT;
		break;
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
	case XC_TYPE_BOOL:
	case XC_TYPE_ENUM:
		kind = type->is_signed ? XC_ELEMENT_SIGNED : XC_ELEMENT_UNSIGNED;
		break;
	default:
		return false;
	}
	*out = (struct xc_stack_element){
		.bits = mask(bits, (unsigned)type->size), .kind = kind, .size = (unsigned)type->size};
	return true;
}

static const char NO_FLOAT[] = "an operator that does not accept floats";
static const char NO_SIZE[] = "a float of a size that is not supported";

static const char *unary_float(unsigned atom, struct xc_stack_element *element)
{
	long double number;
	if (!xc_float_from_bits(element->bits, element->size, &number))
		return NO_SIZE;
	if (atom != DW_OP_neg && atom != DW_OP_abs)
		return NO_FLOAT;
	number = atom == DW_OP_neg ? -number : fabsl(number);
	return xc_float_to_bits(number, element->size, &element->bits) ? NULL : NO_SIZE;
}

const char *xc_stack_element_unary(unsigned atom, struct xc_stack_element *element)
{
	if (element->kind == XC_ELEMENT_FLOAT)
		return unary_float(atom, element);
	switch (atom) {
	case DW_OP_abs:
		if (element->kind != XC_ELEMENT_UNSIGNED && (__int128)number_of(element, true) < 0)
			element->bits = -element->bits;
		break;
	case DW_OP_neg:
		element->bits = -element->bits;
		break;
	default:
		element->bits = ~element->bits;
	}
	element->bits = mask(element->bits, element->size);
	return NULL;
}

static const char *binary_float(unsigned atom, const struct xc_stack_element *below, const struct xc_stack_element *top,
				unsigned word, struct xc_stack_element *out)
{
	long double a, b, r;
	if (!xc_float_from_bits(below->bits, below->size, &a) || !xc_float_from_bits(top->bits, top->size, &b))
		return NO_SIZE;
	switch (atom) {
	case DW_OP_plus:
		r = a + b;
		break;
	case DW_OP_minus:
		r = a - b;
		break;
	case DW_OP_mul:
		r = a * b;
		break;
	case DW_OP_div:
		r = a / b;
		break;
	default:
		if (!xc_arith_is_comparison(operators[atom]))
			return NO_FLOAT;
		*out = xc_stack_element_word(xc_arith_compare(operators[atom], (a > b) - (a < b), isunordered(a, b)),
					     word);
		return NULL;
	}
	*out = *below;
	return xc_float_to_bits(r, below->size, &out->bits) ? NULL : NO_SIZE;
}

const char *xc_stack_element_binary(unsigned atom, const struct xc_stack_element *below,
				    const struct xc_stack_element *top, unsigned word, struct xc_stack_element *out)
{
	bool shift = atom == DW_OP_shl || atom == DW_OP_shr || atom == DW_OP_shra;
	if (!shift && (below->kind != top->kind || below->size != top->size))
		return "operands of different types in a location expression";
	if (below->kind == XC_ELEMENT_FLOAT)
		return binary_float(atom, below, top, word, out);
	unsigned op = operators[atom];
	bool as_signed = is_signed(atom, below->kind);
	unsigned __int128 a = number_of(below, as_signed), b = shift ? top->bits : number_of(top, as_signed), bits;
	if (xc_arith_is_comparison(op)) {
		*out = xc_stack_element_word(xc_arith_compare(op, xc_arith_order(a, b, as_signed), false), word);
		return NULL;
	}
	if (!xc_arith_compute(op, a, b, as_signed, &bits))
		return "division by zero in a location expression";
	*out = *below;
	out->bits = mask(bits, below->size);
	return NULL;
}

static const char *to_integer(long double number, unsigned __int128 *bits_out)
{
	const long double limit = 0x1p127L;
	if (!(number > -limit && number < limit)) /* also NaN */
		return "a float that does not fit an integer";
	*bits_out = (unsigned __int128)(__int128)number;
	return NULL;
}

const char *xc_stack_element_convert(struct xc_stack_element *element, const struct xc_stack_element *like)
{
	unsigned __int128 bits = element->bits;
	const char *why = NULL;
	long double number = 0;
	if (element->kind == XC_ELEMENT_FLOAT && !xc_float_from_bits(bits, element->size, &number))
		return NO_SIZE;
	if (element->kind == XC_ELEMENT_SIGNED || element->kind == XC_ELEMENT_GENERIC)
		bits = number_of(element, true);
	if (like->kind != XC_ELEMENT_FLOAT) {
		if (element->kind == XC_ELEMENT_FLOAT)
			why = to_integer(number, &bits);
	} else {
		if (element->kind == XC_ELEMENT_UNSIGNED)
			number = (long double)bits;
		else if (element->kind != XC_ELEMENT_FLOAT)
			number = (long double)(__int128)bits;
		if (!xc_float_to_bits(number, like->size, &bits))
			why = NO_SIZE;
	}
	*element = (struct xc_stack_element){.bits = mask(bits, like->size), .kind = like->kind, .size = like->size};
	return why;
}
