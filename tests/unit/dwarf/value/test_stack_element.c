/* layer: dwarf */
/* Arithmetic of the typed DWARF stack. */
#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/value/stack_element.h"

static struct xc_stack_element of_double(double d)
{
	struct xc_stack_element element = {.kind = XC_ELEMENT_FLOAT, .size = sizeof d};
	memcpy(&element.bits, &d, sizeof d);
	return element;
}

static struct xc_stack_element of_int(int64_t number, unsigned size, enum xc_stack_element_kind kind)
{
	uint64_t mask = size >= 8 ? UINT64_MAX : (UINT64_C(1) << size * 8) - 1;
	return (struct xc_stack_element){.bits = (uint64_t)number & mask, .kind = kind, .size = size};
}

static void floats_add_and_compare(void **state)
{
	(void)state;
	struct xc_stack_element a = of_double(1.5), b = of_double(2.25), out, want = of_double(3.75);
	assert_null(xc_stack_element_binary(DW_OP_plus, &a, &b, 8, &out));
	assert_true(out.bits == want.bits && out.kind == XC_ELEMENT_FLOAT);
	assert_null(xc_stack_element_binary(DW_OP_lt, &a, &b, 8, &out));
	assert_true(out.bits == 1 && out.kind == XC_ELEMENT_GENERIC);
	assert_non_null(xc_stack_element_binary(DW_OP_xor, &a, &b, 8, &out));
	struct xc_stack_element nan = of_double(__builtin_nan(""));
	assert_null(xc_stack_element_binary(DW_OP_eq, &nan, &nan, 8, &out));
	assert_true(out.bits == 0);
	assert_null(xc_stack_element_binary(DW_OP_ne, &nan, &nan, 8, &out));
	assert_true(out.bits == 1);
}

static void types_must_agree(void **state)
{
	(void)state;
	struct xc_stack_element a = of_int(1, 4, XC_ELEMENT_SIGNED), b = of_int(1, 8, XC_ELEMENT_SIGNED), out;
	assert_non_null(xc_stack_element_binary(DW_OP_plus, &a, &b, 8, &out));
	assert_null(xc_stack_element_binary(DW_OP_shl, &a, &b, 8, &out)); /* a shift count may have any type */
	assert_true(out.bits == 2 && out.size == 4);
}

static void typed_integers_keep_size_and_sign(void **state)
{
	(void)state;
	struct xc_stack_element a = of_int(-8, 4, XC_ELEMENT_SIGNED), b = of_int(3, 4, XC_ELEMENT_SIGNED), out;
	assert_null(xc_stack_element_binary(DW_OP_mod, &a, &b, 8, &out));
	assert_int_equal((int32_t)out.bits, -2);
	a.kind = b.kind = XC_ELEMENT_UNSIGNED;
	assert_null(xc_stack_element_binary(DW_OP_div, &a, &b, 8, &out));
	assert_int_equal((uint32_t)out.bits, 0xfffffff8u / 3);
	a = of_int(-1, 1, XC_ELEMENT_UNSIGNED);
	b = of_int(2, 1, XC_ELEMENT_UNSIGNED);
	assert_null(xc_stack_element_binary(DW_OP_plus, &a, &b, 8, &out));
	assert_int_equal((uint64_t)out.bits, 1);
}

static void conversions_keep_the_number(void **state)
{
	(void)state;
	struct xc_stack_element element = of_int(-3, 4, XC_ELEMENT_SIGNED), like = of_double(0), want = of_double(-3);
	assert_null(xc_stack_element_convert(&element, &like));
	assert_true(element.bits == want.bits);
	like = of_int(0, 2, XC_ELEMENT_SIGNED);
	assert_null(xc_stack_element_convert(&element, &like));
	assert_int_equal((int16_t)element.bits, -3);
	assert_int_equal(element.size, 2);
	element = of_double(__builtin_inf());
	assert_non_null(xc_stack_element_convert(&element, &like));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floats_add_and_compare),
		cmocka_unit_test(types_must_agree),
		cmocka_unit_test(typed_integers_keep_size_and_sign),
		cmocka_unit_test(conversions_keep_the_number),
	};
	return cmocka_run_group_tests_name("stack_element", tests, NULL, NULL);
}
