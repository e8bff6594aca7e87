/* layer: dwarf */
/* Malformed debug information: missing facts are not invented, and nothing hangs. */
#include "tests/unit/dwarf/module/split_unit.h"

/* ---- malformed information ---- */

/* A unit with one function and the entries of `write`; its first variable is valid if nothing else is wrong. */
typedef void wrong_fn(struct dm *dm, size_t integer, size_t function);

static void with_unit(unsigned version, wrong_fn *write, const char *function, const char *variable, const char *what)
{
	struct dm dm = {0};
	dm_unit(&dm, &(struct dm_unit){version, 4, 8, 0, 0});
	dm_die(&dm, DW_TAG_compile_unit, true);
	covers(&dm);
	size_t integer = made_base(&dm, "int", DW_ATE_signed, 4);
	size_t at = dm_die(&dm, DW_TAG_subprogram, true);
	dm_name(&dm, "function");
	covers(&dm);
	write(&dm, integer, at);
	dm_end(&dm);
	dm_end(&dm);
	dm_unit_end(&dm);
	struct mapped m = use(&dm, "wrong");
	const char *got = function_at(&m, CODE + 1), *value = variable_at(&m, CODE + 1);
	if (strcmp(got, function) != 0 || strcmp(value, variable) != 0)
		fail_msg("%s: got %s with %s, want %s with %s", what, got, value, function, variable);
	end_use(&m);
	dm_fini(&dm);
}

static void good_variable(struct dm *dm, size_t integer)
{
	made_variable(dm, "v", integer);
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 5);
}

static void sibling_back(struct dm *dm, size_t integer, size_t function)
{
	made_variable(dm, "v", integer);
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 5);
	dm_number(dm, DW_AT_sibling, DW_FORM_ref4, function);
	good_variable(dm, integer);
}

static void sibling_to_itself(struct dm *dm, size_t integer, size_t function)
{
	(void)function;
	size_t at = made_variable(dm, "v", integer);
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 5);
	dm_number(dm, DW_AT_sibling, DW_FORM_ref4, at);
}

static void sibling_outside(struct dm *dm, size_t integer, size_t function)
{
	(void)function;
	made_variable(dm, "v", integer);
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 5);
	dm_number(dm, DW_AT_sibling, DW_FORM_ref4, 0x7fffffff);
}

static void type_of_itself(struct dm *dm, size_t integer, size_t function)
{
	(void)integer;
	(void)function;
	dm_die(dm, DW_TAG_variable, false);
	dm_name(dm, "v");
	size_t next = dm_at(dm, DM_INFO) - dm->unit + 4;
	dm_number(dm, DW_AT_type, DW_FORM_ref4, next + 2);
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 5);
	/* one byte: the next entry starts after it */
	size_t at = dm_die(dm, DW_TAG_typedef, false);
	dm_patch(dm, DM_INFO, dm->unit + next - 4, at, 4);
	dm_name(dm, "t");
	dm_number(dm, DW_AT_type, DW_FORM_ref4, at);
}

static void origin_of_itself(struct dm *dm, size_t integer, size_t function)
{
	(void)integer;
	(void)function;
	size_t at = dm_die(dm, DW_TAG_variable, false);
	dm_number(dm, DW_AT_abstract_origin, DW_FORM_ref4, at);
}

static void type_outside(struct dm *dm, size_t integer, size_t function)
{
	(void)integer;
	(void)function;
	dm_die(dm, DW_TAG_variable, false);
	dm_name(dm, "v");
	dm_number(dm, DW_AT_type, DW_FORM_ref4, 0x00ffffff);
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 5);
}

static void type_in_the_middle(struct dm *dm, size_t integer, size_t function)
{
	(void)function;
	dm_die(dm, DW_TAG_variable, false);
	dm_name(dm, "v");
	dm_number(dm, DW_AT_type, DW_FORM_ref4, integer + 1); /* the name's 'i' as a code: unknown */
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 5);
}

static void code_without_declaration(struct dm *dm, size_t integer, size_t function)
{
	(void)function;
	good_variable(dm, integer);
	dm_u(dm, DM_INFO, 0x7f, 1);
}

static void name_outside(struct dm *dm, size_t integer, size_t function)
{
	(void)function;
	dm_die(dm, DW_TAG_variable, false);
	dm_number(dm, DW_AT_name, DW_FORM_strp, 0x1000);
	dm_number(dm, DW_AT_type, DW_FORM_ref4, integer);
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 5);
}

static void block_outside(struct dm *dm, size_t integer, size_t function)
{
	(void)function;
	made_variable(dm, "v", integer);
	dm_attr(dm, DW_AT_location, DW_FORM_exprloc);
	dm_uleb(dm, DM_INFO, 0x7fffffff);
}

static void unknown_form(struct dm *dm, size_t integer, size_t function)
{
	(void)function;
	made_variable(dm, "v", integer);
	dm_attr(dm, DW_AT_const_value, 0x77);
}

static void indirect_of_indirect(struct dm *dm, size_t integer, size_t function)
{
	(void)function;
	made_variable(dm, "v", integer);
	dm_attr(dm, DW_AT_const_value, DW_FORM_indirect);
	for (int i = 0; i < 64; i++)
		dm_uleb(dm, DM_INFO, DW_FORM_indirect);
	dm_uleb(dm, DM_INFO, DW_FORM_data1);
	dm_u(dm, DM_INFO, 5, 1);
}

static void what_is_wrong_is_left_out(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		wrong_fn *write;
		const char *variable;
	} cases[] = {
		{"a sibling that leads back", sibling_back, "v: int = 5"},
		{"a sibling that is itself", sibling_to_itself, "v: int = 5"},
		{"a sibling outside the unit", sibling_outside, "v: int = 5"},
		{"a type of itself", type_of_itself, "v: t = <its size is not known>"},
		{"an origin of itself", origin_of_itself, "(null): void = void"},
		{"a type outside", type_outside, "v: <unknown type> = <its size is not known>"},
		{"a type in the middle of an entry", type_in_the_middle, "v: <unknown type> = <its size is not known>"},
		{"a code that is not declared", code_without_declaration, "v: int = 5"},
		{"a name outside the section", name_outside, "(null): int = 5"},
		{"an expression longer than the unit", block_outside, "v: int = <optimized out>"},
		{"a form that no one knows", unknown_form, "v: int = <a constant of a form that is not supported>"},
		{"an indirect form that goes on", indirect_of_indirect, "v: int = <optimized out>"},
	};
	for (unsigned version = 4; version <= 5; version++)
		for (size_t i = 0; i < XC_COUNT(cases); i++)
			with_unit(version, cases[i].write, "function", cases[i].variable, cases[i].what);
}

/* Every length of the header with several wrong values: no answer, no crash. */
static void units_of_wrong_lengths_are_not_followed(void **state)
{
	(void)state;
	static const uint32_t lengths[] = {0, 1, 6, 7, 8, 0x7fffffff, 0xfffffff0, 0xfffffffe};
	for (unsigned version = 2; version <= 5; version++)
		for (size_t i = 0; i < XC_COUNT(lengths); i++) {
			struct dm dm = {0};
			dm_unit(&dm, &(struct dm_unit){version, 4, 8, 0, 0});
			dm_die(&dm, DW_TAG_compile_unit, true);
			covers(&dm);
			dm_die(&dm, DW_TAG_subprogram, false);
			dm_name(&dm, "function");
			covers(&dm);
			dm_end(&dm);
			dm_unit_end(&dm);
			dm_patch(&dm, DM_INFO, 0, lengths[i], 4);
			struct mapped m = use(&dm, "wrong");
			assert_string_equal(function_at(&m, CODE + 1), "");
			end_use(&m);
			dm_fini(&dm);
		}
}

/* Every byte of a file with everything in it, one by one, turned over; every prefix of its sections. No answer is
 * wanted but an end. */
static void damage_anywhere_ends(void **state)
{
	(void)state;
	struct dm dwo = {0};
	write_split(&dwo, 5);
	write_type_unit(&dwo, 5, SIGNATURE, "inside");
	for (size_t section = 0; section < DM_SECTIONS; section++)
		for (size_t at = 0; at < dm_at(&dwo, (enum dm_section)section); at++) {
			struct dm dm = {0};
			uint8_t *byte = (uint8_t *)&dwo.sections[section].bytes[at], kept = *byte;
			write_skeleton(&dm, 5);
			*byte = (uint8_t)(kept ^ (at % 2 ? 0xff : 0x01));
			dm_file(&dwo, "odd.dwo");
			struct mapped m = use(&dm, "odd");
			(void)variable_at(&m, CODE + 0x40);
			end_use(&m);
			dm_fini(&dm);
			*byte = kept;
		}
	for (size_t section = 0; section < DM_SECTIONS; section++)
		for (size_t len = dm_at(&dwo, (enum dm_section)section); len-- > 0;) {
			struct dm dm = {0};
			write_skeleton(&dm, 5);
			size_t whole = dwo.sections[section].len;
			dwo.sections[section].len = len;
			dm_file(&dwo, "odd.dwo");
			dwo.sections[section].len = whole;
			struct mapped m = use(&dm, "odd");
			(void)variable_at(&m, CODE + 0x40);
			end_use(&m);
			dm_fini(&dm);
		}
	dm_fini(&dwo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_is_left_out),
		cmocka_unit_test(units_of_wrong_lengths_are_not_followed),
		cmocka_unit_test(damage_anywhere_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
