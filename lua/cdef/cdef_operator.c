/* cdef_operator: C's operators on integers (C11 6.3.1, 6.5).
 *
 * Values are kept in 128 bits, extended to their sign, and cut to their type after each operation. Of integer types
 * only size and sign matter: of two of the same size the unsigned one wins, whatever their ranks (C11 6.3.1.8). */
#include "lua/cdef/cdef_impl.h"

struct xc_cdef_value xc_cdef_fit(__int128 bits, uint64_t size, bool is_signed)
{
	unsigned shift = size >= 16 ? 0 : 128 - 8 * (unsigned)size;
	unsigned __int128 high = (unsigned __int128)bits << shift;
	bits = is_signed ? (__int128)high >> shift : (__int128)(high >> shift);
	return (struct xc_cdef_value){.bits = bits, .size = (uint8_t)size, .is_signed = is_signed};
}

struct xc_cdef_value xc_cdef_promote(struct xc_cdef_value v)
{
	return v.size < 4 ? xc_cdef_fit(v.bits, 4, true) : v;
}

void xc_cdef_convert(struct xc_cdef_value *a, struct xc_cdef_value *b)
{
	*a = xc_cdef_promote(*a);
	*b = xc_cdef_promote(*b);
	uint8_t size = a->size > b->size ? a->size : b->size;
	bool is_signed = (a->size < size || a->is_signed) && (b->size < size || b->is_signed);
	*a = xc_cdef_fit(a->bits, size, is_signed);
	*b = xc_cdef_fit(b->bits, size, is_signed);
}

static const char *shift(bool left, struct xc_cdef_value *a, const struct xc_cdef_value *b)
{
	*a = xc_cdef_promote(*a);
	if (b->bits < 0 || b->bits >= a->size * 8)
		return "a shift by more bits than there are";
	unsigned by = (unsigned)b->bits;
	unsigned __int128 bits = (unsigned __int128)a->bits;
	if (left)
		bits <<= by;
	else
		bits = a->is_signed ? (unsigned __int128)(a->bits >> by) : bits >> by;
	*a = xc_cdef_fit((__int128)bits, a->size, a->is_signed);
	return NULL;
}

static const char *divide(bool rest, struct xc_cdef_value *a, const struct xc_cdef_value *b)
{
	unsigned __int128 x = (unsigned __int128)a->bits, y = (unsigned __int128)b->bits;
	if (y == 0)
		return "a division by zero";
	if (!a->is_signed)
		x = rest ? x % y : x / y;
	else if (b->bits == -1) /* of the least number the quotient does not fit */
		x = rest ? 0 : -x;
	else
		x = (unsigned __int128)(rest ? a->bits % b->bits : a->bits / b->bits);
	*a = xc_cdef_fit((__int128)x, a->size, a->is_signed);
	return NULL;
}

/* Of two values of one type; an unsigned one of 128 bits lies in bits that __int128 takes for negative. */
static bool compare(unsigned op, const struct xc_cdef_value *a, const struct xc_cdef_value *b)
{
	bool equal = a->bits == b->bits;
	bool less = a->is_signed ? a->bits < b->bits : (unsigned __int128)a->bits < (unsigned __int128)b->bits;
	switch (op) {
	case XC_OP2('=', '='):
		return equal;
	case XC_OP2('!', '='):
		return !equal;
	case '<':
		return less;
	case XC_OP2('<', '='):
		return less || equal;
	case '>':
		return !less && !equal;
	default:
		return !less;
	}
}

const char *xc_cdef_operate(unsigned op, struct xc_cdef_value *a, struct xc_cdef_value b)
{
	if (op == XC_OP2('<', '<') || op == XC_OP2('>', '>'))
		return shift(op == XC_OP2('<', '<'), a, &b);
	xc_cdef_convert(a, &b);
	unsigned __int128 x = (unsigned __int128)a->bits, y = (unsigned __int128)b.bits;
	switch (op) {
	case '/':
	case '%':
		return divide(op == '%', a, &b);
	case '*':
		x *= y;
		break;
	case '+':
		x += y;
		break;
	case '-':
		x -= y;
		break;
	case '&':
		x &= y;
		break;
	case '^':
		x ^= y;
		break;
	case '|':
		x |= y;
		break;
	default:
		*a = xc_cdef_fit(compare(op, a, &b), 4, true);
		return NULL;
	}
	*a = xc_cdef_fit((__int128)x, a->size, a->is_signed);
	return NULL;
}
