/* layer: dwarf */
/* Variables of a function in forms that the C compilers here do not write. */
#include "tests/support/made.h"

#include "dwarf/stack/variable.h"

static const uint8_t LOW[] = {DW_OP_const2u, 0x00, 0x10}, HIGH[] = {DW_OP_const2u, 0x04, 0x10};

static void begin(struct dm *dm, unsigned language)
{
	dm_unit(dm, &(struct dm_unit){0});
	dm_die(dm, DW_TAG_compile_unit, true);
	dm_number(dm, DW_AT_language, DW_FORM_data1, language);
}

struct looked {
	struct made *m;
	struct xc_arena arena;
	struct xc_stack_row row;
};

static struct looked look(const struct dm *dm, const char *function)
{
	struct looked l = {.m = made_open(dm)};
	struct xc_format_options options = xc_format_defaults();
	made_enter(l.m, function);
	struct xc_frame_context context = {.process = l.m->process, .frame = &l.m->frame, .place = &l.m->place};
	xc_variables_fill(&context, 0, true, &options, &l.arena, &l.row);
	return l;
}

static void end(struct looked *l)
{
	xc_arena_fini(&l->arena);
	made_close(l->m);
}

static void expect(const struct looked *l, size_t index, const char *name, const char *want)
{
	assert_true(index < l->row.local_count);
	const struct xc_variable_text *local = &l->row.locals[index];
	assert_string_equal(local->name, name);
	assert_string_equal(local->value ? local->value : local->why, want);
}

/* DWARF 5, 4.2 and 4.3: the members of a COMMON block, in a function that has it and one that refers to it. */
static void members_of_common_blocks_are_locals(void **state)
{
	(void)state;
	struct dm dm = {0};
	begin(&dm, DW_LANG_Fortran95);
	size_t type = made_base(&dm, "integer", DW_ATE_signed, 4);
	dm_die(&dm, DW_TAG_subprogram, true);
	dm_name(&dm, "has");
	size_t block = dm_die(&dm, DW_TAG_common_block, true);
	dm_name(&dm, "blk");
	made_variable(&dm, "k", type);
	dm_expr(&dm, DW_AT_location, LOW, sizeof LOW);
	made_variable(&dm, "lost", type);
	dm_end(&dm);
	made_variable(&dm, "own", type);
	dm_expr(&dm, DW_AT_location, HIGH, sizeof HIGH);
	dm_end(&dm);
	dm_die(&dm, DW_TAG_subprogram, true);
	dm_name(&dm, "refers");
	dm_die(&dm, DW_TAG_common_inclusion, false);
	dm_number(&dm, DW_AT_common_reference, DW_FORM_ref4, block);
	dm_end(&dm);
	dm_end(&dm);
	dm_unit_end(&dm);
	for (unsigned i = 0; i < 2; i++) {
		struct looked l = look(&dm, i ? "refers" : "has");
		assert_int_equal(l.row.local_count, i ? 2 : 3);
		expect(&l, 0, "k", "319951120"); /* 0x13121110 */
		expect(&l, 1, "lost", "optimized out");
		end(&l);
	}
	dm_fini(&dm);
}

/* DW_ATE_signed and DW_ATE_unsigned are numbers; in C, where no other type has one byte, they are characters, too. */
static void a_byte_is_a_number_where_characters_are_another_type(void **state)
{
	static const struct {
		unsigned language, encoding;
		const char *byte, *array;
	} cases[] = {
		{DW_LANG_Ada95, DW_ATE_signed, "16", "{16, 17, 18}"},
		{DW_LANG_Ada95, DW_ATE_unsigned, "16", "{16, 17, 18}"},
		{DW_LANG_Fortran08, DW_ATE_signed, "16", "{16, 17, 18}"},
		{DW_LANG_Pascal83, DW_ATE_unsigned, "16", "{16, 17, 18}"},
		{DW_LANG_Ada95, DW_ATE_unsigned_char, "16 '\\020'", "\"\\020\\021\\022\""},
		{DW_LANG_C99, DW_ATE_signed, "16 '\\020'", "\"\\020\\021\\022\""},
		{DW_LANG_C99, DW_ATE_signed_char, "16 '\\020'", "\"\\020\\021\\022\""},
	};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct dm dm = {0};
		begin(&dm, cases[i].language);
		size_t type = made_base(&dm, "small", cases[i].encoding, 1);
		size_t array = dm_die(&dm, DW_TAG_array_type, true);
		dm_number(&dm, DW_AT_type, DW_FORM_ref4, type);
		dm_die(&dm, DW_TAG_subrange_type, false);
		dm_number(&dm, DW_AT_count, DW_FORM_data1, 3);
		dm_end(&dm);
		dm_die(&dm, DW_TAG_subprogram, true);
		dm_name(&dm, "f");
		made_variable(&dm, "byte", type);
		dm_expr(&dm, DW_AT_location, LOW, sizeof LOW);
		made_variable(&dm, "array", array);
		dm_expr(&dm, DW_AT_location, LOW, sizeof LOW);
		dm_end(&dm);
		dm_end(&dm);
		dm_unit_end(&dm);
		struct looked l = look(&dm, "f");
		expect(&l, 0, "byte", cases[i].byte);
		expect(&l, 1, "array", cases[i].array);
		end(&l);
		dm_fini(&dm);
	}
}

static size_t member(struct dm *dm, const char *name, size_t type, unsigned offset)
{
	size_t at = dm_die(dm, DW_TAG_member, false);
	dm_name(dm, name);
	dm_number(dm, DW_AT_type, DW_FORM_ref4, type);
	dm_number(dm, DW_AT_data_member_location, DW_FORM_udata, offset);
	return at;
}

/* As Ada has it: the length of one member and the presence of another depend on a discriminant. */
static void a_record_of_variable_size_has_variants(void **state)
{
	(void)state;
	struct dm dm = {0};
	begin(&dm, DW_LANG_Ada95);
	size_t type = made_base(&dm, "integer", DW_ATE_signed, 4);
	size_t letter = made_base(&dm, "character", DW_ATE_unsigned_char, 1);
	size_t record = dm_die(&dm, DW_TAG_structure_type, true);
	dm_name(&dm, "rec");
	size_t discriminant = member(&dm, "n", type, 0);
	size_t array = dm_die(&dm, DW_TAG_array_type, true);
	dm_number(&dm, DW_AT_type, DW_FORM_ref4, letter);
	dm_die(&dm, DW_TAG_subrange_type, false);
	dm_number(&dm, DW_AT_upper_bound, DW_FORM_ref4, discriminant);
	dm_end(&dm);
	member(&dm, "s", array, 8);
	dm_die(&dm, DW_TAG_variant_part, true);
	dm_number(&dm, DW_AT_discr, DW_FORM_ref4, discriminant);
	dm_die(&dm, DW_TAG_variant, true);
	member(&dm, "v", type, 4);
	dm_end(&dm);
	dm_end(&dm);
	dm_end(&dm);
	dm_die(&dm, DW_TAG_subprogram, true);
	dm_name(&dm, "f");
	made_variable(&dm, "r", record);
	dm_expr(&dm, DW_AT_location, LOW, sizeof LOW);
	dm_end(&dm);
	dm_end(&dm);
	dm_unit_end(&dm);
	struct looked l = look(&dm, "f");
	expect(&l, 0, "r", "{n = 319951120, s = <length not known>, v = 387323156}");
	end(&l);
	dm_fini(&dm);
}

/* DWARF 5, 5.1.1.1; the integer in memory is 0x1110, 4368. */
static void fixed_point_numbers_are_counted_in_their_units(void **state)
{
	static const struct {
		unsigned attribute, encoding;
		int64_t scale;
		const char *want;
	} cases[] = {
		{DW_AT_binary_scale, DW_ATE_signed_fixed, -2, "1092"},
		{DW_AT_binary_scale, DW_ATE_signed_fixed, -5, "136.5"},
		{DW_AT_binary_scale, DW_ATE_unsigned_fixed, 3, "34944"},
		{DW_AT_decimal_scale, DW_ATE_signed_fixed, -3, "4.368"},
		{DW_AT_decimal_scale, DW_ATE_unsigned_fixed, 2, "436800"},
		{DW_AT_decimal_scale, DW_ATE_signed_fixed, -5000, "<bytes 10 11>"},
		{DW_AT_small, DW_ATE_signed_fixed, 0, "1456"},
		{0, DW_ATE_signed_fixed, 0, "<bytes 10 11>"},
	};
	char name[16];
	(void)state;
	struct dm dm = {0};
	begin(&dm, DW_LANG_Ada95);
	size_t third = dm_die(&dm, DW_TAG_constant, false);
	dm_number(&dm, DW_AT_GNU_numerator, DW_FORM_data1, 1);
	dm_number(&dm, DW_AT_GNU_denominator, DW_FORM_data1, 3);
	dm_die(&dm, DW_TAG_subprogram, true);
	dm_name(&dm, "f");
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		size_t type = made_base(&dm, "fixed", cases[i].encoding, 2);
		if (cases[i].attribute == DW_AT_small)
			dm_number(&dm, DW_AT_small, DW_FORM_ref4, third);
		else if (cases[i].attribute)
			dm_number(&dm, cases[i].attribute, DW_FORM_sdata, (uint64_t)cases[i].scale);
		snprintf(name, sizeof name, "v%zu", i);
		made_variable(&dm, name, type);
		dm_expr(&dm, DW_AT_location, LOW, sizeof LOW);
	}
	dm_end(&dm);
	dm_end(&dm);
	dm_unit_end(&dm);
	struct looked l = look(&dm, "f");
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		snprintf(name, sizeof name, "v%zu", i);
		expect(&l, i, name, cases[i].want);
	}
	end(&l);
	dm_fini(&dm);
}

/* gdb shows the same. */
static void what_is_left_of_an_array_is_shown(void **state)
{
	static const uint8_t first[] = {DW_OP_const1u, 'h', DW_OP_stack_value, DW_OP_piece, 1, DW_OP_piece, 29},
			     last[] = {DW_OP_piece, 28, DW_OP_const1u, 'h', DW_OP_stack_value, DW_OP_piece, 2},
			     none[] = {DW_OP_piece, 30};
	(void)state;
	struct dm dm = {0};
	begin(&dm, DW_LANG_C99);
	size_t letter = made_base(&dm, "char", DW_ATE_signed_char, 1);
	size_t array = dm_die(&dm, DW_TAG_array_type, true);
	dm_number(&dm, DW_AT_type, DW_FORM_ref4, letter);
	dm_die(&dm, DW_TAG_subrange_type, false);
	dm_number(&dm, DW_AT_count, DW_FORM_data1, 30);
	dm_end(&dm);
	dm_die(&dm, DW_TAG_subprogram, true);
	dm_name(&dm, "f");
	made_variable(&dm, "first", array);
	dm_expr(&dm, DW_AT_location, first, sizeof first);
	made_variable(&dm, "last", array);
	dm_expr(&dm, DW_AT_location, last, sizeof last);
	made_variable(&dm, "none", array);
	dm_expr(&dm, DW_AT_location, none, sizeof none);
	dm_end(&dm);
	dm_end(&dm);
	dm_unit_end(&dm);
	struct looked l = look(&dm, "f");
	expect(&l, 0, "first", "{104 'h', <optimized out> <repeats 29 times>}");
	expect(&l, 1, "last", "{<optimized out> <repeats 28 times>, 104 'h', 0 '\\000'}");
	expect(&l, 2, "none", "optimized out");
	end(&l);
	dm_fini(&dm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_common_blocks_are_locals),
		cmocka_unit_test(a_byte_is_a_number_where_characters_are_another_type),
		cmocka_unit_test(a_record_of_variable_size_has_variants),
		cmocka_unit_test(fixed_point_numbers_are_counted_in_their_units),
		cmocka_unit_test(what_is_left_of_an_array_is_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
