/* float: the floating-point formats of targets. */
#ifndef XC_FLOAT_H
#define XC_FLOAT_H

#include "core/elf/arch.h"
#include "dwarf/types/type.h"

enum xc_float_kind {
	XC_FLOAT_NONE,   /* unknown */
	XC_FLOAT_HALF,   /* IEEE 754 binary16 */
	XC_FLOAT_BRAIN,  /* bfloat16: the upper half of a single */
	XC_FLOAT_SINGLE, /* binary32 */
	XC_FLOAT_DOUBLE, /* binary64 */
	XC_FLOAT_X87,    /* 80 bits in 10, 12 or 16 bytes */
	XC_FLOAT_QUAD,   /* binary128 */
	XC_FLOAT_PAIR,   /* the sum of two doubles: long double of PowerPC */
};

/* The format of a float, or of half a complex number, of `size` bytes. DWARF has only encoding and size, so the name of
 * the type and the machine decide between formats of one size. On machines with several formats of 16 bytes, a name
 * that is not known gives XC_FLOAT_NONE: its bytes are no number then. A type or name of NULL or "" stands for long
 * double. arch may be NULL: this machine's. */
enum xc_float_kind xc_float_kind_of(const struct xc_type *type, unsigned size, const struct xc_arch *arch);

/* The number, rounded to a long double of this machine (quads have more digits). False for XC_FLOAT_NONE. */
bool xc_float_decode(enum xc_float_kind kind, unsigned __int128 bits, long double *out);

/* The float of `size` bytes in this machine's formats: 2, 4, 8, or 10 to 16 (x87). False for other sizes. */
bool xc_float_from_bits(unsigned __int128 bits, unsigned size, long double *out);

/* The bits of a number rounded to `size` bytes: 4, 8, or 10 to 16 (x87). False for other sizes. */
bool xc_float_to_bits(long double number, unsigned size, unsigned __int128 *bits_out);

/* Decimal digits that distinguish all numbers of the format: 1 + ⌈bits × log10 2⌉, as in gdb. */
unsigned xc_float_digits(enum xc_float_kind kind);

/* The bit number of the sign; the number of fraction bits, which are at the low end. */
unsigned xc_float_sign(enum xc_float_kind kind);
unsigned xc_float_fraction(enum xc_float_kind kind);

#endif
