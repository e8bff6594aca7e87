/* cexpr_arith: numbers: conversions (C11 6.3.1) and operators (6.5) in the target's sizes.
 *
 * Integers are kept in 128 bits, sign-extended, and cut to their type after each operation. So unsigned ones wrap
 * around; signed ones do too, where C leaves the result undefined. Floats are computed in their own type (a double
 * rounded from long double can differ in the last bit). Undefined operations without a sensible result are errors:
 * division by zero, shifts by the width or more, floats that do not fit. */
#include <float.h>
#include <math.h>

#include "dwarf/cexpr/cexpr_impl.h"
#include "dwarf/value/float.h"

/* ---- loading ---- */

/* long double has fewer digits, or is the same type under another name. */
static bool is_quad(const struct xc_cexpr *c, const struct xc_type *type)
{
	const struct xc_arch *arch = c->process->arch;
	return type->size == 16 && (!type->name || strcmp(type->name, "long double") != 0) &&
	       xc_float_kind_of(type, 16, arch) == XC_FLOAT_QUAD;
}

static struct xc_error *load_real(struct xc_cexpr *c, const struct xc_value *value, struct xc_cnumber *n)
{
	n->is_real = n->is_signed = true;
	if (is_quad(c, n->type))
		return xc_error_new(XC_ERR_UNSUPPORTED, "arithmetic with `%s` is not supported", n->type->name);
	if (c->dry || xc_value_load_float(value, 0, n->size, &n->real))
		return NULL;
	struct xc_error *err = xc_cexpr_unreadable(value);
	return err ? err
		   : xc_error_new(XC_ERR_UNSUPPORTED, "`%s` is a float of %u bytes, which is not supported",
				  xc_type_name(value->type), n->size);
}

static struct xc_error *load_bits(struct xc_cexpr *c, const struct xc_value *value, struct xc_cnumber *n)
{
	if (c->dry || xc_value_load_wide(value, &n->bits))
		return NULL;
	struct xc_error *err = xc_cexpr_unreadable(value);
	if (!err && value->kind == XC_VALUE_POINTEE)
		err = xc_error_new(XC_ERR_ABSENT, "a pointer that is optimized out");
	return err ? err : xc_error_new(XC_ERR_USAGE, "`%s` is not a number", xc_type_name(value->type));
}

struct xc_error *xc_cexpr_number(struct xc_cexpr *c, const struct xc_value *given, struct xc_cnumber *out)
{
	struct xc_value value;
	struct xc_error *err;
	if (xc_cexpr_is_untyped(c, given->type))
		return xc_cexpr_untyped();
	if ((err = xc_cexpr_decay(c, given, &value)))
		return err;
	const struct xc_type *type = xc_type_strip(value.type);
	*out = (struct xc_cnumber){
		.type = type, .is_signed = type->is_signed, .size = (unsigned)type->size, .bit_size = value.bit_size};
	if (xc_ctype_is_constant(value.type))
		out->is_signed = true;
	switch (type->kind) {
	case XC_TYPE_FLOAT:
		return load_real(c, &value, out);
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
	case XC_TYPE_BOOL:
	case XC_TYPE_ENUM:
	case XC_TYPE_POINTER:
	case XC_TYPE_REFERENCE: /* the address itself: operands have been dereferenced */
	case XC_TYPE_RVALUE_REFERENCE:
	case XC_TYPE_MEMBER_POINTER:
		if (type->size_known && type->size <= 16)
			return load_bits(c, &value, out);
		break;
	default:
		break;
	}
	return xc_error_new(XC_ERR_USAGE, "`%s` is not a number", xc_type_name(given->type));
}

struct xc_error *xc_cexpr_truth(struct xc_cexpr *c, const struct xc_value *value, bool *out)
{
	struct xc_cnumber number;
	struct xc_error *err = xc_cexpr_number(c, value, &number);
	if (!err)
		*out = number.is_real ? number.real != 0 : number.bits != 0;
	return err;
}

/* ---- conversion ---- */

/* Rounded to the precision of a float of this size. */
static long double rounded(long double real, unsigned size)
{
	if (size == 4)
		return (float)real;
	if (size == 8)
		return (double)real;
	return real;
}

static long double real_of(const struct xc_cnumber *n)
{
	if (n->is_real)
		return n->real;
	return n->is_signed ? (long double)(__int128)n->bits : (long double)n->bits;
}

/* An integer converted to a float in one step: long double holds 64 bits exactly, but not 128. */
static long double real_in(const struct xc_cnumber *n, unsigned size)
{
	if (!n->is_real && size == 8)
		return n->is_signed ? (double)(__int128)n->bits : (double)n->bits;
	if (!n->is_real && size == 4)
		return n->is_signed ? (float)(__int128)n->bits : (float)n->bits;
	return rounded(real_of(n), size);
}

static struct xc_error *real_to_integer(long double real, const struct xc_type *type, unsigned __int128 *bits_out)
{
	unsigned width = (unsigned)type->size * 8;
	long double most = ldexpl(1, (int)(type->is_signed ? width - 1 : width));
	long double least = type->is_signed ? -most : 0;
	long double whole = truncl(real);
	if (!(whole >= least && whole < most))
		return xc_error_new(XC_ERR_LIMIT, "%Lg does not fit `%s`", real, xc_type_name(type));
	*bits_out = whole < 0 ? (unsigned __int128)(__int128)whole : (unsigned __int128)whole;
	return NULL;
}

static struct xc_error *to_real(struct xc_cexpr *c, const struct xc_cnumber *n, const struct xc_type *type,
				const struct xc_type *plain, struct xc_value *out)
{
	unsigned __int128 bits = 0;
	unsigned size = (unsigned)plain->size;
	if (is_quad(c, plain) || !xc_float_to_bits(real_in(n, size), size, &bits))
		return xc_error_new(XC_ERR_UNSUPPORTED, "arithmetic with `%s` is not supported", xc_type_name(type));
	*out = xc_value_small(c->process, type, &bits, sizeof bits);
	return NULL;
}

struct xc_error *xc_cexpr_convert(struct xc_cexpr *c, const struct xc_cnumber *n, const struct xc_type *type,
				  struct xc_value *out)
{
	const struct xc_type *plain = xc_type_strip(type);
	unsigned __int128 bits = n->bits;
	struct xc_error *err;
	if (plain->kind == XC_TYPE_FLOAT)
		return to_real(c, n, type, plain, out);
	if (plain->kind == XC_TYPE_BOOL)
		bits = n->is_real ? n->real != 0 : n->bits != 0;
	else if (n->is_real && (err = real_to_integer(n->real, plain, &bits)))
		return err;
	bits = xc_arith_extend(bits, (unsigned)plain->size, false);
	*out = xc_value_small(c->process, type, &bits, sizeof bits);
	return NULL;
}

/* ---- promotion ---- */

static bool is_long_long(const struct xc_type *type)
{
	return type->name && strstr(type->name, "long long");
}

/* The type that an operand is promoted to, before the common type is found. */
static enum xc_ctype promoted(const struct xc_cexpr *c, const struct xc_cnumber *n)
{
	unsigned int_size = (unsigned)xc_ctype(c->process, XC_C_INT)->size;
	unsigned long_size = (unsigned)xc_ctype(c->process, XC_C_LONG)->size;
	if (n->is_real)
		return n->size == 2   ? XC_C_FLOAT16
		       : n->size == 4 ? XC_C_FLOAT
		       : n->size == 8 ? XC_C_DOUBLE
				      : XC_C_LDOUBLE;
	if (n->size < int_size || (n->bit_size > 0 && n->bit_size < int_size * 8))
		return XC_C_INT;
	if (n->bit_size == int_size * 8 || n->size == int_size)
		return n->is_signed ? XC_C_INT : XC_C_UINT;
	if (n->size > 8)
		return n->is_signed ? XC_C_INT128 : XC_C_UINT128;
	if (n->size == long_size && !is_long_long(n->type))
		return n->is_signed ? XC_C_LONG : XC_C_ULONG;
	return n->is_signed ? XC_C_LLONG : XC_C_ULLONG;
}

static bool is_real_type(enum xc_ctype type)
{
	return type >= XC_C_FLOAT16 && type <= XC_C_FLOAT128;
}

/* C11 6.3.1.8. Ranks follow the enum: an unsigned type is directly after its signed one, longer types are later. */
static enum xc_ctype common(const struct xc_cexpr *c, enum xc_ctype a, enum xc_ctype b)
{
	enum xc_ctype high = a > b ? a : b, low = a > b ? b : a;
	if (is_real_type(high))
		return high;
	const struct xc_type *high_type = xc_ctype(c->process, high), *low_type = xc_ctype(c->process, low);
	bool same_size = high_type->size == low_type->size;
	return high_type->is_signed && !low_type->is_signed && same_size ? high + 1 : high;
}

const struct xc_type *xc_cexpr_common_type(struct xc_cexpr *c, const struct xc_value *a, const struct xc_value *b)
{
	const struct xc_type *types[] = {xc_type_strip(a->type), xc_type_strip(b->type)};
	enum xc_ctype promotions[2];
	if (types[0] == types[1])
		return NULL; /* chars and enums are not promoted, as in gdb */
	for (size_t i = 0; i < 2; i++) {
		const struct xc_value *value = i == 0 ? a : b;
		enum xc_type_kind kind = types[i]->kind;
		if (kind != XC_TYPE_INT && kind != XC_TYPE_CHAR && kind != XC_TYPE_BOOL && kind != XC_TYPE_FLOAT &&
		    kind != XC_TYPE_ENUM)
			return NULL;
		struct xc_cnumber n = {.type = types[i],
				       .is_real = kind == XC_TYPE_FLOAT,
				       .is_signed = types[i]->is_signed || xc_ctype_is_constant(value->type),
				       .size = (unsigned)types[i]->size,
				       .bit_size = value->bit_size};
		promotions[i] = promoted(c, &n);
	}
	return xc_ctype(c->process, common(c, promotions[0], promotions[1]));
}

/* ---- operators ---- */

static struct xc_value integer_value(struct xc_cexpr *c, unsigned __int128 bits, enum xc_ctype which)
{
	const struct xc_type *type = xc_ctype(c->process, which);
	bits = xc_arith_extend(bits, (unsigned)type->size, false);
	return xc_value_small(c->process, type, &bits, sizeof bits);
}

static struct xc_error *real_value(struct xc_cexpr *c, long double real, enum xc_ctype which, struct xc_value *out)
{
	const struct xc_type *type = xc_ctype(c->process, which);
	struct xc_cnumber n = {.type = type, .is_real = true, .size = (unsigned)type->size, .real = real};
	return xc_cexpr_convert(c, &n, type, out);
}

struct xc_error *xc_cexpr_unary(struct xc_cexpr *c, unsigned op, const struct xc_value *a, struct xc_value *out)
{
	struct xc_cnumber n;
	struct xc_error *err = xc_cexpr_number(c, a, &n);
	if (err)
		return err;
	if (op == '!') {
		*out = xc_cexpr_bool(c, n.is_real ? n.real == 0 : n.bits == 0);
		return NULL;
	}
	enum xc_ctype which = promoted(c, &n);
	if (n.is_real && op != '~')
		return real_value(c, op == '-' ? -n.real : n.real, which, out);
	if (n.is_real || (n.type->kind == XC_TYPE_POINTER && op != '~'))
		return xc_error_new(XC_ERR_USAGE, "`%s` has no operator %c", xc_type_name(a->type), (char)op);
	*out = integer_value(c, op == '-' ? -n.bits : op == '~' ? ~n.bits : n.bits, which);
	return NULL;
}

/* Computed at the precision of the type: native arithmetic rounds like the target's. */
static long double compute_real(unsigned op, long double a, long double b, enum xc_ctype which)
{
	if (which == XC_C_FLOAT || which == XC_C_FLOAT16) {
		float x = (float)a, y = (float)b;
		return op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
	}
	if (which == XC_C_DOUBLE) {
		double x = (double)a, y = (double)b;
		return op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
	}
	return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
}

static struct xc_error *binary_real(struct xc_cexpr *c, unsigned op, const struct xc_cnumber *a,
				    const struct xc_cnumber *b, enum xc_ctype which, struct xc_value *out)
{
	unsigned size = (unsigned)xc_ctype(c->process, which)->size;
	long double x = real_in(a, size), y = real_in(b, size);
	if (xc_arith_is_comparison(op)) {
		*out = xc_cexpr_bool(c, xc_arith_compare(op, (x > y) - (x < y), isunordered(x, y)));
		return NULL;
	}
	if (op > 0x7f || !strchr("+-*/", (int)op))
		return xc_error_new(XC_ERR_USAGE, "floats have no operator %c%c", (char)op, (char)(op >> 8));
	return real_value(c, compute_real(op, x, y, which), which, out);
}

/* C11 6.5.7: the operands are promoted separately, and the left one gives the type. */
static struct xc_error *shift(struct xc_cexpr *c, unsigned op, const struct xc_cnumber *a, const struct xc_cnumber *b,
			      struct xc_value *out)
{
	enum xc_ctype which = promoted(c, a);
	const struct xc_type *type = xc_ctype(c->process, which);
	unsigned width = (unsigned)type->size * 8;
	unsigned __int128 bits = xc_arith_extend(a->bits, (unsigned)type->size, type->is_signed);
	if (b->bits >= width) /* also negative ones */
		return xc_error_hint(xc_error_new(XC_ERR_USAGE, "a shift by %lld of the %u bits of `%s`",
						  (long long)b->bits, width, type->name),
				     "C leaves this undefined; a longer type has room: 1UL << 40");
	xc_arith_compute(op, bits, b->bits, type->is_signed, &bits);
	*out = integer_value(c, bits, which);
	return NULL;
}

static struct xc_error *binary_integer(struct xc_cexpr *c, unsigned op, const struct xc_cnumber *a,
				       const struct xc_cnumber *b, enum xc_ctype which, struct xc_value *out)
{
	const struct xc_type *type = xc_ctype(c->process, which);
	unsigned size = (unsigned)type->size;
	unsigned __int128 x = xc_arith_extend(a->bits, size, type->is_signed),
			  y = xc_arith_extend(b->bits, size, type->is_signed), bits = 0;
	if (xc_arith_is_comparison(op)) {
		*out = xc_cexpr_bool(c, xc_arith_compare(op, xc_arith_order(x, y, type->is_signed), false));
		return NULL;
	}
	if (op > 0x7f || !strchr("+-*/%&|^", (int)op))
		return xc_error_new(XC_ERR_USAGE, "the operator does not accept these operands");
	if (!xc_arith_compute(op, x, y, type->is_signed, &bits) && !c->dry)
		return xc_error_new(XC_ERR_USAGE, "division by zero");
	*out = integer_value(c, bits, which);
	return NULL;
}

struct xc_error *xc_cexpr_binary(struct xc_cexpr *c, unsigned op, const struct xc_value *left,
				 const struct xc_value *right, struct xc_value *out)
{
	struct xc_cnumber a, b;
	struct xc_error *err;
	if ((err = xc_cexpr_number(c, left, &a)) || (err = xc_cexpr_number(c, right, &b)))
		return err;
	enum xc_ctype which = common(c, promoted(c, &a), promoted(c, &b));
	bool shifts = op == XC_OP2('<', '<') || op == XC_OP2('>', '>');
	if (a.is_real || b.is_real)
		return binary_real(c, op, &a, &b, which, out);
	return shifts ? shift(c, op, &a, &b, out) : binary_integer(c, op, &a, &b, which, out);
}
