/* layer: dwarf */
/* Formats of floats: selected by name and machine, and decoded; against the results of this machine's compiler. */
#include <elf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/value/float.h"

static long double decoded(enum xc_float_kind kind, unsigned __int128 bits)
{
	long double number = -1;
	assert_true(xc_float_decode(kind, bits, &number));
	return number;
}

static void every_single_and_double_reads_as_itself(void **state)
{
	(void)state;
	static const double numbers[] = {0, -0.0, 1, -1.5, 1e-310, 1.7976931348623157e308, 0.1, INFINITY, -INFINITY};
	for (size_t i = 0; i < XC_COUNT(numbers); i++) {
		uint64_t bits;
		uint32_t half_bits;
		float single = (float)numbers[i];
		memcpy(&bits, &numbers[i], sizeof bits);
		memcpy(&half_bits, &single, sizeof half_bits);
		assert_true(decoded(XC_FLOAT_DOUBLE, bits) == (long double)numbers[i]);
		assert_true(decoded(XC_FLOAT_SINGLE, half_bits) == (long double)single);
		assert_int_equal(signbit(decoded(XC_FLOAT_DOUBLE, bits)) != 0, signbit(numbers[i]) != 0);
	}
}

/* All values of 16 bits. */
static void every_half_and_brain(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 0x10000; bits++) {
		unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
		long double half = decoded(XC_FLOAT_HALF, bits), brain = decoded(XC_FLOAT_BRAIN, bits);
		uint32_t wide = bits << 16;
		float single;
		memcpy(&single, &wide, sizeof single);
		assert_true(isnan(single) ? isnan(brain) : brain == (long double)single);
		if (exponent == 31)
			assert_true(fraction ? isnan(half) : isinf(half));
		else
			assert_true(fabsl(half) ==
				    ldexpl(fraction + (exponent ? 1024.0L : 0), (exponent ? (int)exponent : 1) - 25));
		assert_int_equal(signbit(half) != 0, bits >> 15);
	}
}

#ifdef __SIZEOF_FLOAT128__
static void quads_round_to_what_we_have(void **state)
{
	(void)state;
	static const char *const texts[] = {"1", "-2.75", "0.1", "1e4000", "3e-4940", "-0", "inf"};
	for (size_t i = 0; i < XC_COUNT(texts); i++) {
		long double want = strtold(texts[i], NULL);
		__float128 quad = (__float128)want; /* exact: a quad has more bits */
		unsigned __int128 bits;
		memcpy(&bits, &quad, sizeof bits);
		assert_true(decoded(XC_FLOAT_QUAD, bits) == want);
	}
	unsigned __int128 smallest = 1;
	assert_true(decoded(XC_FLOAT_QUAD, smallest) == 0); /* 2^-16494: too small for an x87 number */
}
#endif

static void pairs_are_sums(void **state)
{
	(void)state;
	double high = 1e16, low = 1;
	uint64_t words[2];
	memcpy(&words[0], &high, 8);
	memcpy(&words[1], &low, 8);
	assert_true(decoded(XC_FLOAT_PAIR, (unsigned __int128)words[1] << 64 | words[0]) == 1e16L + 1);
}

static enum xc_float_kind kind_on(const char *name, unsigned size, uint16_t machine)
{
	struct xc_type type = {.kind = XC_TYPE_FLOAT, .name = name};
	struct xc_arch arch = {.machine = machine};
	return xc_float_kind_of(&type, size, &arch);
}

static void machines_differ_in_long_double(void **state)
{
	(void)state;
	assert_int_equal(kind_on("long double", 16, EM_X86_64), XC_FLOAT_X87);
	assert_int_equal(kind_on("long double", 12, EM_386), XC_FLOAT_X87);
	assert_int_equal(kind_on("long double", 16, EM_AARCH64), XC_FLOAT_QUAD);
	assert_int_equal(kind_on("long double", 16, EM_RISCV), XC_FLOAT_QUAD);
	assert_int_equal(kind_on("long double", 16, EM_PPC64), XC_FLOAT_PAIR);
	assert_int_equal(kind_on("_Float128", 16, EM_X86_64), XC_FLOAT_QUAD);
	assert_int_equal(kind_on("complex _Float128", 16, EM_X86_64), XC_FLOAT_QUAD);
	assert_int_equal(kind_on("_Float128", 16, EM_PPC64), XC_FLOAT_QUAD);
	assert_int_equal(kind_on("_Float16", 2, EM_X86_64), XC_FLOAT_HALF);
	assert_int_equal(kind_on("__bf16", 2, EM_X86_64), XC_FLOAT_BRAIN);
	assert_int_equal(kind_on("odd", 3, EM_X86_64), XC_FLOAT_NONE);
	assert_int_equal(kind_on("__ibm128", 16, EM_PPC64), XC_FLOAT_PAIR);
	long double number;
	assert_false(xc_float_decode(XC_FLOAT_NONE, 0, &number));
}

static void other_languages_have_names_of_their_own(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum xc_float_kind kind;
	} cases[] = {
		{"real(kind=16)", XC_FLOAT_QUAD},
		{"complex(kind=16)", XC_FLOAT_QUAD},
		{"real(kind=10)", XC_FLOAT_X87},
		{"complex(kind=10)", XC_FLOAT_X87},
		{"f128", XC_FLOAT_QUAD},
		{"REAL(16)", XC_FLOAT_QUAD},
		{"complex*32", XC_FLOAT_QUAD},
		{"std::float128_t", XC_FLOAT_QUAD},
		{"complex long double", XC_FLOAT_X87},
		{"_Complex long double", XC_FLOAT_X87},
		{"complex", XC_FLOAT_X87}, /* clang */
		{"long_long_float", XC_FLOAT_X87},
		{"Float80", XC_FLOAT_X87},
		{"posit128", XC_FLOAT_NONE},
		{"complexity", XC_FLOAT_NONE},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(kind_on(cases[i].name, 16, EM_X86_64), cases[i].kind);
	assert_int_equal(kind_on("posit128", 16, EM_AARCH64), XC_FLOAT_QUAD); /* the only one of this size */
	assert_int_equal(kind_on("std::bfloat16_t", 2, EM_X86_64), XC_FLOAT_BRAIN);
	assert_int_equal(kind_on("complex __bf16", 2, EM_X86_64), XC_FLOAT_BRAIN);
	assert_int_equal(kind_on("f16", 2, EM_X86_64), XC_FLOAT_HALF);
}

static void floats_of_two_bytes_are_halves(void **state)
{
	(void)state;
	static const struct {
		uint16_t bits;
		long double number;
	} cases[] = {{0x3c00, 1}, {0xc000, -2}, {0x0001, 0x1p-24L}, {0x7bff, 65504}, {0x3555, 0.333251953125L}, {0, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		long double number;
		assert_true(xc_float_from_bits(cases[i].bits, 2, &number));
		assert_true(number == cases[i].number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_single_and_double_reads_as_itself),
		cmocka_unit_test(every_half_and_brain),
#ifdef __SIZEOF_FLOAT128__
		cmocka_unit_test(quads_round_to_what_we_have),
#endif
		cmocka_unit_test(pairs_are_sums),
		cmocka_unit_test(machines_differ_in_long_double),
		cmocka_unit_test(other_languages_have_names_of_their_own),
		cmocka_unit_test(floats_of_two_bytes_are_halves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
