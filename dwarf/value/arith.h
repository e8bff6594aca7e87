/* arith: C's operators on integers of up to 128 bits, whatever their types.
 *
 * Operands are extended to 128 bits by the sign of their type. So is a result, once xc_arith_extend has cut it to the
 * size of its type. Signed overflow wraps around. */
#ifndef XC_ARITH_H
#define XC_ARITH_H

#include <stdbool.h>

/* An operator is numbered by its bytes: '+', XC_OP2('<', '<'). */
#define XC_OP2(a, b)    ((unsigned)(a) | (unsigned)(b) << 8)
#define XC_OP3(a, b, c) (XC_OP2(a, b) | (unsigned)(c) << 16)

/* The low `size` bytes, extended by their sign or by zeros; all bits from 16 bytes on. */
unsigned __int128 xc_arith_extend(unsigned __int128 bits, unsigned size, bool is_signed);

/* a op b for + - * / % & | ^ << >>. Shifts by 128 and more give 0, or the sign. False for a division by zero. */
bool xc_arith_compute(unsigned op, unsigned __int128 a, unsigned __int128 b, bool is_signed,
		      unsigned __int128 *bits_out);

/* Is it < > <= >= == or != ? */
bool xc_arith_is_comparison(unsigned op);

/* -1, 0 or 1: the order of two numbers. */
int xc_arith_order(unsigned __int128 a, unsigned __int128 b, bool is_signed);

/* The result of a comparison of two operands in that order; with `unordered` (a NaN) only != is true. */
bool xc_arith_compare(unsigned op, int order, bool unordered);

#endif
