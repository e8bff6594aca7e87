/* stack_element: arithmetic of the DWARF stack.
 *
 * Integers are kept in 128 bits and cut to their size after each operator. Floats are computed as long double, which
 * represents every float and double exactly, and rounded to their size. Generic words follow DWARF 5 section 2.5.1.4:
 * div and the comparisons are signed, mod and shr are not. */
#include "dwarf/value/stack_element.h"

#include <dwarf.h>
#include <math.h>
#include <string.h>

#include "dwarf/value/float.h"

static unsigned __int128 mask(unsigned __int128 bits, unsigned size)
{
	return size >= 16 ? bits : bits & (((unsigned __int128)1 << size * 8) - 1);
}

static __int128 extend(const struct xc_stack_element *element)
{
	unsigned shift = element->size >= 16 ? 0 : 128 - element->size * 8;
	return (__int128)(element->bits << shift) >> shift;
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
		if (element->kind != XC_ELEMENT_UNSIGNED && extend(element) < 0)
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

static bool compare(unsigned atom, int order)
{
	switch (atom) {
	case DW_OP_eq:
		return order == 0;
	case DW_OP_ne:
		return order != 0;
	case DW_OP_lt:
		return order < 0;
	case DW_OP_le:
		return order <= 0;
	case DW_OP_gt:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool is_comparison(unsigned atom)
{
	return atom >= DW_OP_eq && atom <= DW_OP_ne;
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
		if (!is_comparison(atom))
			return NO_FLOAT;
		bool unordered = isnan(a) || isnan(b);
		*out = xc_stack_element_word(unordered ? atom == DW_OP_ne : compare(atom, (a > b) - (a < b)), word);
		return NULL;
	}
	*out = *below;
	return xc_float_to_bits(r, below->size, &out->bits) ? NULL : NO_SIZE;
}

static unsigned __int128 shift_right(const struct xc_stack_element *element, unsigned __int128 by, bool arithmetic)
{
	unsigned bits = by > 127 ? 127 : (unsigned)by;
	if (arithmetic)
		return (unsigned __int128)(extend(element) >> bits);
	return by > 127 ? 0 : element->bits >> bits;
}

static const char *divide(unsigned atom, const struct xc_stack_element *below, const struct xc_stack_element *top,
			  struct xc_stack_element *out)
{
	if (top->bits == 0)
		return "division by zero in a location expression";
	bool is_signed = below->kind == XC_ELEMENT_SIGNED || (below->kind == XC_ELEMENT_GENERIC && atom == DW_OP_div);
	if (!is_signed) {
		out->bits = atom == DW_OP_div ? below->bits / top->bits : below->bits % top->bits;
		return NULL;
	}
	__int128 a = extend(below), b = extend(top);
	if (b == -1) /* the smallest number divided by -1 overflows */
		out->bits = atom == DW_OP_div ? -(unsigned __int128)a : 0;
	else
		out->bits = (unsigned __int128)(atom == DW_OP_div ? a / b : a % b);
	return NULL;
}

static void compute(unsigned atom, const struct xc_stack_element *below, const struct xc_stack_element *top,
		    struct xc_stack_element *out)
{
	unsigned __int128 a = below->bits, b = top->bits;
	switch (atom) {
	case DW_OP_plus:
		out->bits = a + b;
		break;
	case DW_OP_minus:
		out->bits = a - b;
		break;
	case DW_OP_mul:
		out->bits = a * b;
		break;
	case DW_OP_and:
		out->bits = a & b;
		break;
	case DW_OP_or:
		out->bits = a | b;
		break;
	case DW_OP_xor:
		out->bits = a ^ b;
		break;
	case DW_OP_shl:
		out->bits = b > 127 ? 0 : a << (unsigned)b;
		break;
	default: /* DW_OP_shr, DW_OP_shra */
		out->bits = shift_right(below, b, atom == DW_OP_shra || below->kind == XC_ELEMENT_SIGNED);
	}
}

const char *xc_stack_element_binary(unsigned atom, const struct xc_stack_element *below,
				    const struct xc_stack_element *top, unsigned word, struct xc_stack_element *out)
{
	bool shift = atom == DW_OP_shl || atom == DW_OP_shr || atom == DW_OP_shra;
	if (!shift && (below->kind != top->kind || below->size != top->size))
		return "operands of different types in a location expression";
	if (below->kind == XC_ELEMENT_FLOAT)
		return binary_float(atom, below, top, word, out);
	struct xc_stack_element result = *below;
	if (is_comparison(atom)) {
		int order;
		if (below->kind == XC_ELEMENT_UNSIGNED)
			order = (below->bits > top->bits) - (below->bits < top->bits);
		else
			order = (extend(below) > extend(top)) - (extend(below) < extend(top));
		*out = xc_stack_element_word(compare(atom, order), word);
		return NULL;
	}
	if (atom == DW_OP_div || atom == DW_OP_mod) {
		const char *why = divide(atom, below, top, &result);
		if (why)
			return why;
	} else {
		compute(atom, below, top, &result);
	}
	result.bits = mask(result.bits, result.size);
	*out = result;
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
		bits = (unsigned __int128)extend(element);
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
