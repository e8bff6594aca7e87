/* layer: dwarf */
/* Variables of a function in forms that the C compilers here do not write. */
#include "tests/support/made.h"

#include "dwarf/stack/variable.h"

/* DWARF 5, 4.2 and 4.3: the members of a COMMON block, in a function that has it and one that refers to it. */
static void members_of_common_blocks_are_locals(void **state)
{
	static const uint8_t low[] = {DW_OP_const2u, 0x00, 0x10}, high[] = {DW_OP_const2u, 0x04, 0x10};
	(void)state;
	struct dm dm = {0};
	dm_unit(&dm, &(struct dm_unit){0});
	dm_die(&dm, DW_TAG_compile_unit, true);
	dm_number(&dm, DW_AT_language, DW_FORM_data1, DW_LANG_Fortran95);
	size_t type = made_base(&dm, "integer", DW_ATE_signed, 4);
	dm_die(&dm, DW_TAG_subprogram, true);
	dm_name(&dm, "has");
	size_t block = dm_die(&dm, DW_TAG_common_block, true);
	dm_name(&dm, "blk");
	made_variable(&dm, "k", type);
	dm_expr(&dm, DW_AT_location, low, sizeof low);
	made_variable(&dm, "lost", type);
	dm_end(&dm);
	made_variable(&dm, "own", type);
	dm_expr(&dm, DW_AT_location, high, sizeof high);
	dm_end(&dm);
	dm_die(&dm, DW_TAG_subprogram, true);
	dm_name(&dm, "refers");
	dm_die(&dm, DW_TAG_common_inclusion, false);
	dm_number(&dm, DW_AT_common_reference, DW_FORM_ref4, block);
	dm_end(&dm);
	dm_end(&dm);
	dm_unit_end(&dm);
	for (unsigned i = 0; i < 2; i++) {
		struct made *m = made_open(&dm);
		struct xc_arena arena = {0};
		struct xc_stack_row row = {0};
		struct xc_format_options options = xc_format_defaults();
		made_enter(m, i ? "refers" : "has");
		struct xc_frame_context context = {.process = m->process, .frame = &m->frame, .place = &m->place};
		xc_variables_fill(&context, 0, true, &options, &arena, &row);
		assert_int_equal(row.local_count, i ? 2 : 3);
		assert_string_equal(row.locals[0].name, "k");
		assert_string_equal(row.locals[0].value, "319951120"); /* 0x13121110 */
		assert_string_equal(row.locals[1].name, "lost");
		assert_string_equal(row.locals[1].why, "optimized out");
		xc_arena_fini(&arena);
		made_close(m);
	}
	dm_fini(&dm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(members_of_common_blocks_are_locals)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
