/* layer: dwarf */
/* Constant expressions, as compilers write call targets, and expressions that are not constant. */
#include "dwarf/unwind/constant_expr.h"

#include "tests/support/made.h"

/* The value of a DW_AT_call_target expression; false if it is not constant. */
static bool evaluate(const uint8_t *bytes, size_t len, bool bias_known, uint64_t *value_out)
{
	struct dm dm = {.machine = 0};
	size_t begin, base = dm_table(&dm, DM_ADDR, 0, &begin);
	dm_u(&dm, DM_ADDR, 0x4000, 8);
	dm_length(&dm, DM_ADDR, begin);
	dm_unit(&dm, &(struct dm_unit){.version = 5});
	dm_die(&dm, DW_TAG_compile_unit, false);
	dm_number(&dm, DW_AT_addr_base, DW_FORM_sec_offset, base);
	dm_expr(&dm, DW_AT_call_target, bytes, len);
	dm_unit_end(&dm);
	struct made *m = made_open(&dm);
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	Dwarf_Attribute attr;
	assert_int_equal(dwarf_get_units(m->dwarf, NULL, &cu, NULL, NULL, &die, NULL), 0);
	assert_non_null(dwarf_attr(&die, DW_AT_call_target, &attr));
	m->module.bias_known = bias_known;
	bool known = xc_constant_expr(m->process, &m->module, &attr, value_out);
	made_close(m);
	dm_fini(&dm);
	return known;
}

#define EXPECT(VALUE, ...)                                                                                             \
	do {                                                                                                           \
		const uint8_t bytes[] = {__VA_ARGS__};                                                                 \
		uint64_t value = 0;                                                                                    \
		assert_true(evaluate(bytes, sizeof bytes, true, &value));                                              \
		assert_int_equal(value, VALUE);                                                                        \
	} while (0)

#define EXPECT_NONE(BIAS_KNOWN, ...)                                                                                   \
	do {                                                                                                           \
		const uint8_t bytes[] = {__VA_ARGS__};                                                                 \
		uint64_t value = 0;                                                                                    \
		assert_false(evaluate(bytes, sizeof bytes, BIAS_KNOWN, &value));                                       \
	} while (0)

static void constants_are_computed(void **state)
{
	(void)state;
	EXPECT(0x500000, DW_OP_lit20, DW_OP_lit18, DW_OP_shl);
	EXPECT(0x500001, DW_OP_lit20, DW_OP_lit18, DW_OP_shl, DW_OP_plus_uconst, 1, DW_OP_stack_value);
	EXPECT(UINT64_MAX, DW_OP_const1s, 0xff);
	EXPECT(0xff, DW_OP_const1u, 0xff);
	EXPECT(0xbeef, DW_OP_const2u, 0xef, 0xbe);
	EXPECT(7, DW_OP_lit3, DW_OP_lit4, DW_OP_or);
	EXPECT(9, DW_OP_lit3, DW_OP_dup, DW_OP_mul);
	EXPECT(UINT64_MAX, DW_OP_lit0, DW_OP_not);
	EXPECT(UINT64_MAX, DW_OP_lit1, DW_OP_neg, DW_OP_lit8, DW_OP_shra);
	EXPECT(0, DW_OP_lit1, DW_OP_const1u, 64, DW_OP_shl);
}

static void addresses_are_those_in_memory(void **state)
{
	(void)state;
	EXPECT(MADE_BIAS + 0x1234, DW_OP_addr, 0x34, 0x12, 0, 0, 0, 0, 0, 0);
	EXPECT(MADE_BIAS + 0x4000, DW_OP_addrx, 0);
	EXPECT(0x4000, DW_OP_constx, 0);
	EXPECT_NONE(false, DW_OP_addr, 0x34, 0x12, 0, 0, 0, 0, 0, 0);
	EXPECT_NONE(true, DW_OP_addrx, 1);
}

static void registers_memory_and_damage_are_no_constants(void **state)
{
	(void)state;
	EXPECT_NONE(true, DW_OP_breg0, 0);
	EXPECT_NONE(true, DW_OP_reg0);
	EXPECT_NONE(true, DW_OP_lit8, DW_OP_deref);
	EXPECT_NONE(true, DW_OP_lit1, DW_OP_plus);
	EXPECT_NONE(true, DW_OP_stack_value);
	EXPECT_NONE(true, DW_OP_const2u, 1);
	EXPECT_NONE(true, DW_OP_constu);
	EXPECT_NONE(true, DW_OP_lit1, DW_OP_plus_uconst);
	EXPECT_NONE(true, DW_OP_stack_value, DW_OP_lit1);
	uint8_t long_one[300];
	uint64_t value;
	memset(long_one, DW_OP_nop, sizeof long_one);
	memset(long_one, DW_OP_lit1, 1);
	assert_false(evaluate(long_one, sizeof long_one, true, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_computed),
		cmocka_unit_test(addresses_are_those_in_memory),
		cmocka_unit_test(registers_memory_and_damage_are_no_constants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
