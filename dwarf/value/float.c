/* float: selects and decodes formats.
 *
 *	            sign  exponent  fraction                                   digits
 *	half          15        5        10     IEEE 754-2019, 3.6                  5
 *	brain         15        8         7     the upper half of a single          4
 *	single        31        8        23                                         9
 *	double        63       11        52                                        17
 *	x87           79       15        64     with its leading 1 (Intel SDM 1, 4.2.2)  21
 *	quad         127       15       112                                        36
 *	pair                                    two doubles; gdb counts 33        33 */
#include "dwarf/value/float.h"

#include <elf.h>
#include <math.h>
#include <string.h>

static const struct {
	uint8_t sign, fraction, digits;
} formats[] = {
	[XC_FLOAT_HALF] = {15, 10, 5},    [XC_FLOAT_BRAIN] = {15, 7, 4}, [XC_FLOAT_SINGLE] = {31, 23, 9},
	[XC_FLOAT_DOUBLE] = {63, 52, 17}, [XC_FLOAT_X87] = {79, 64, 21}, [XC_FLOAT_QUAD] = {127, 112, 36},
	[XC_FLOAT_PAIR] = {63, 52, 33},
};

/* Names of floats of 16 bytes, by compiler. LONG: the widest format of the machine that its C calls long double. */
enum { LONG = -1 };

static const struct {
	const char *name;
	int kind;
} wide_names[] = {
	{"long double", LONG},
	{"_Float64x", LONG},
	{"__float80", XC_FLOAT_X87},
	{"_Float128", XC_FLOAT_QUAD},
	{"__float128", XC_FLOAT_QUAD},
	{"__ieee128", XC_FLOAT_QUAD},
	{"__ibm128", XC_FLOAT_PAIR},
	{"_Float128x", XC_FLOAT_QUAD},
	{"std::float128_t", XC_FLOAT_QUAD},
	{"f128", XC_FLOAT_QUAD},          /* Rust, Zig */
	{"f80", XC_FLOAT_X87},            /* Zig */
	{"real(kind=16)", XC_FLOAT_QUAD}, /* Fortran */
	{"real(kind=10)", XC_FLOAT_X87},
	{"(kind=16)", XC_FLOAT_QUAD}, /* what is left of complex(kind=16) */
	{"(kind=10)", XC_FLOAT_X87},
	{"REAL(16)", XC_FLOAT_QUAD},
	{"(16)", XC_FLOAT_QUAD},
	{"real*16", XC_FLOAT_QUAD},
	{"*32", XC_FLOAT_QUAD},     /* complex*32 */
	{"long_long_float", LONG},  /* Ada */
	{"real", LONG},             /* D */
	{"c_longdouble", LONG},     /* D */
	{"Float80", XC_FLOAT_X87},  /* Swift */
	{"EXTENDED", XC_FLOAT_X87}, /* Free Pascal */
	{"", LONG},                 /* clang names all complex types "complex" */
};

/* The name of a float, or of the float that a complex number consists of: "complex double", "complex(kind=16)". */
static const char *name_of(const struct xc_type *type)
{
	const char *name = type && type->name ? type->name : "";
	static const char *const prefixes[] = {"_Complex", "complex", "COMPLEX"};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		size_t len = strlen(prefixes[i]);
		if (strncmp(name, prefixes[i], len) == 0)
			return name[len] == ' ' ? name + len + 1 : name + len;
	}
	return name;
}

static enum xc_float_kind long_kind(const struct xc_arch *arch)
{
	if (!arch)
		return sizeof(long double) == 16 && __LDBL_MANT_DIG__ == 64 ? XC_FLOAT_X87 : XC_FLOAT_QUAD;
	if (arch->machine == EM_X86_64 || arch->machine == EM_386)
		return XC_FLOAT_X87;
	return arch->machine == EM_PPC || arch->machine == EM_PPC64 ? XC_FLOAT_PAIR : XC_FLOAT_QUAD;
}

static enum xc_float_kind wide_kind(const struct xc_type *type, const struct xc_arch *arch)
{
	const char *name = name_of(type);
	for (size_t i = 0; i < sizeof wide_names / sizeof *wide_names; i++) {
		if (strcmp(name, wide_names[i].name) == 0)
			return wide_names[i].kind == LONG ? long_kind(arch) : (enum xc_float_kind)wide_names[i].kind;
	}
	enum xc_float_kind kind = long_kind(arch);
	return kind == XC_FLOAT_QUAD ? kind : XC_FLOAT_NONE; /* where all have one format, the name does not matter */
}

static bool is_brain(const struct xc_type *type)
{
	const char *name = name_of(type);
	return strstr(name, "bf16") || strstr(name, "bfloat16") || strstr(name, "BFloat16") || strstr(name, "BF16");
}

enum xc_float_kind xc_float_kind_of(const struct xc_type *type, unsigned size, const struct xc_arch *arch)
{
	switch (size) {
	case 2:
		return is_brain(type) ? XC_FLOAT_BRAIN : XC_FLOAT_HALF;
	case 4:
		return XC_FLOAT_SINGLE;
	case 8:
		return XC_FLOAT_DOUBLE;
	case 10:
	case 12:
		return XC_FLOAT_X87;
	case 16:
		return wide_kind(type, arch);
	default:
		return XC_FLOAT_NONE;
	}
}

static long double from_half(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	long double fraction = bits & 1023, number;
	if (exponent == 31)
		number = fraction != 0 ? (long double)NAN : (long double)INFINITY;
	else if (exponent == 0)
		number = ldexpl(fraction, -24);
	else
		number = ldexpl(fraction + 1024, exponent - 25);
	return bits & 0x8000 ? -number : number;
}

static long double from_single(uint32_t bits)
{
	float number;
	memcpy(&number, &bits, sizeof number);
	return (long double)number;
}

static long double from_double(uint64_t bits)
{
	double number;
	memcpy(&number, &bits, sizeof number);
	return (long double)number;
}

/* A long double of this machine (x87) keeps the leading 64 bits of the fraction. */
static long double from_quad(unsigned __int128 bits)
{
	int exponent = (int)(bits >> 112 & 0x7fff);
	unsigned __int128 fraction = bits & (((unsigned __int128)1 << 112) - 1);
	long double number;
	if (exponent == 0x7fff) {
		number = fraction != 0 ? (long double)NAN : (long double)INFINITY;
	} else {
		fraction |= exponent != 0 ? (unsigned __int128)1 << 112 : 0;
		exponent -= exponent != 0;
		number = ldexpl((long double)fraction, exponent - 16382 - 112);
	}
	return bits >> 127 ? -number : number;
}

static long double from_x87(unsigned __int128 bits)
{
	long double number = 0;
#if __LDBL_MANT_DIG__ == 64
	memcpy(&number, &bits, 10);
#else
	int exponent = (int)(bits >> 64 & 0x7fff);
	uint64_t fraction = (uint64_t)bits;
	if (exponent == 0x7fff)
		number = fraction << 1 != 0 ? (long double)NAN : (long double)INFINITY;
	else
		number = ldexpl((long double)fraction, (exponent ? exponent : 1) - 16383 - 63);
	number = bits >> 79 & 1 ? -number : number;
#endif
	return number;
}

bool xc_float_decode(enum xc_float_kind kind, unsigned __int128 bits, long double *out)
{
	switch (kind) {
	case XC_FLOAT_HALF:
		*out = from_half((uint16_t)bits);
		return true;
	case XC_FLOAT_BRAIN:
		*out = from_single((uint32_t)bits << 16);
		return true;
	case XC_FLOAT_SINGLE:
		*out = from_single((uint32_t)bits);
		return true;
	case XC_FLOAT_DOUBLE:
		*out = from_double((uint64_t)bits);
		return true;
	case XC_FLOAT_X87:
		*out = from_x87(bits);
		return true;
	case XC_FLOAT_QUAD:
		*out = from_quad(bits);
		return true;
	case XC_FLOAT_PAIR:
		*out = from_double((uint64_t)bits) + from_double((uint64_t)(bits >> 64));
		return true;
	default:
		return false;
	}
}

unsigned xc_float_digits(enum xc_float_kind kind)
{
	return formats[kind].digits;
}

unsigned xc_float_sign(enum xc_float_kind kind)
{
	return formats[kind].sign;
}

unsigned xc_float_fraction(enum xc_float_kind kind)
{
	return formats[kind].fraction;
}

bool xc_float_from_bits(unsigned __int128 bits, unsigned size, long double *out)
{
	return xc_float_decode(xc_float_kind_of(NULL, size, NULL), bits, out);
}

bool xc_float_to_bits(long double number, unsigned size, unsigned __int128 *bits_out)
{
	float f = (float)number;
	double d = (double)number;
	*bits_out = 0;
	if (size == sizeof f)
		memcpy(bits_out, &f, sizeof f);
	else if (size == sizeof d)
		memcpy(bits_out, &d, sizeof d);
	else if (size >= 10 && size <= 16)
		memcpy(bits_out, &number, 10);
	else
		return false;
	return true;
}
