/* cdef_operator: C's operators on integers (C11 6.3.1, 6.5).
 *
 * Values are kept in 128 bits, extended to their sign, and cut to their type after each operation. Of integer types
 * only size and sign matter: of two of the same size the unsigned one wins, whatever their ranks (C11 6.3.1.8). */
#include "lua/cdef/cdef_impl.h"

struct xc_cdef_value xc_cdef_fit(__int128 bits, uint64_t size, bool is_signed)
{
	bits = (__int128)xc_arith_extend((unsigned __int128)bits, (unsigned)size, is_signed);
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

static const char *shift(unsigned op, struct xc_cdef_value *a, const struct xc_cdef_value *b)
{
	unsigned __int128 bits;
	*a = xc_cdef_promote(*a);
	if (b->bits < 0 || b->bits >= a->size * 8)
		return "a shift by more bits than there are";
	xc_arith_compute(op, (unsigned __int128)a->bits, (unsigned __int128)b->bits, a->is_signed, &bits);
	*a = xc_cdef_fit((__int128)bits, a->size, a->is_signed);
	return NULL;
}

const char *xc_cdef_operate(unsigned op, struct xc_cdef_value *a, struct xc_cdef_value b)
{
	if (op == XC_OP2('<', '<') || op == XC_OP2('>', '>'))
		return shift(op, a, &b);
	xc_cdef_convert(a, &b);
	unsigned __int128 x = (unsigned __int128)a->bits, y = (unsigned __int128)b.bits, bits;
	if (xc_arith_is_comparison(op)) {
		*a = xc_cdef_fit(xc_arith_compare(op, xc_arith_order(x, y, a->is_signed), false), 4, true);
		return NULL;
	}
	if (!xc_arith_compute(op, x, y, a->is_signed, &bits))
		return "a division by zero";
	*a = xc_cdef_fit((__int128)bits, a->size, a->is_signed);
	return NULL;
}
