/* arith: 128-bit arithmetic, without the cases that C leaves undefined. */
#include "dwarf/value/arith.h"

unsigned __int128 xc_arith_extend(unsigned __int128 bits, unsigned size, bool is_signed)
{
	unsigned shift = size >= 16 ? 0 : 128 - size * 8;
	bits <<= shift;
	return is_signed ? (unsigned __int128)((__int128)bits >> shift) : bits >> shift;
}

static unsigned __int128 divide(bool rest, unsigned __int128 a, unsigned __int128 b, bool is_signed)
{
	if (!is_signed)
		return rest ? a % b : a / b;
	if (b == ~(unsigned __int128)0) /* the smallest number divided by -1 would trap */
		return rest ? 0 : -a;
	return (unsigned __int128)(rest ? (__int128)a % (__int128)b : (__int128)a / (__int128)b);
}

static unsigned __int128 shift_right(unsigned __int128 bits, unsigned __int128 by, bool is_signed)
{
	if (is_signed)
		return (unsigned __int128)((__int128)bits >> (by > 127 ? 127 : (unsigned)by));
	return by > 127 ? 0 : bits >> (unsigned)by;
}

bool xc_arith_compute(unsigned op, unsigned __int128 a, unsigned __int128 b, bool is_signed,
		      unsigned __int128 *bits_out)
{
	switch (op) {
	case '+':
		*bits_out = a + b;
		return true;
	case '-':
		*bits_out = a - b;
		return true;
	case '*':
		*bits_out = a * b;
		return true;
	case '&':
		*bits_out = a & b;
		return true;
	case '|':
		*bits_out = a | b;
		return true;
	case '^':
		*bits_out = a ^ b;
		return true;
	case XC_OP2('<', '<'):
		*bits_out = b > 127 ? 0 : a << (unsigned)b;
		return true;
	case XC_OP2('>', '>'):
		*bits_out = shift_right(a, b, is_signed);
		return true;
	default:
		if (b != 0)
			*bits_out = divide(op == '%', a, b, is_signed);
		return b != 0;
	}
}

bool xc_arith_is_comparison(unsigned op)
{
	return op == '<' || op == '>' || op == XC_OP2('<', '=') || op == XC_OP2('>', '=') || op == XC_OP2('=', '=') ||
	       op == XC_OP2('!', '=');
}

int xc_arith_order(unsigned __int128 a, unsigned __int128 b, bool is_signed)
{
	if (is_signed)
		return ((__int128)a > (__int128)b) - ((__int128)a < (__int128)b);
	return (a > b) - (a < b);
}

bool xc_arith_compare(unsigned op, int order, bool unordered)
{
	switch (op) {
	case '<':
		return !unordered && order < 0;
	case '>':
		return !unordered && order > 0;
	case XC_OP2('<', '='):
		return !unordered && order <= 0;
	case XC_OP2('>', '='):
		return !unordered && order >= 0;
	case XC_OP2('=', '='):
		return !unordered && order == 0;
	default:
		return unordered || order != 0;
	}
}
