/* layer: dwarf */
/* Hand-written debug information in several files: dwz's common file, DWARF 5's supplementary file, a .dwo, a .dwp. */
#include "tests/unit/dwarf/module/split_unit.h"

/* ---- a module from a file ---- */

static void note_id(struct dm *dm, const uint8_t id[8])
{
	dm_u(dm, DM_NOTE, 4, 4);
	dm_u(dm, DM_NOTE, 8, 4);
	dm_u(dm, DM_NOTE, 3, 4); /* NT_GNU_BUILD_ID */
	dm_string(dm, DM_NOTE, "GNU");
	dm_bytes(dm, DM_NOTE, id, 8);
}

/* ---- dwz and supplementary files ---- */

static const uint8_t ID[8] = {1, 2, 3, 4, 5, 6, 7, 8};

/* A common file: a base type and a struct, and strings; offsets go to the caller. */
static void write_common(struct dm *alt, bool five, size_t *type_out, size_t *name_out)
{
	dm_string(alt, DM_STR, "in front");
	*name_out = dm_string(alt, DM_STR, "shared_name");
	dm_unit(alt, &(struct dm_unit){five ? 5 : 4, 4, 8, five ? DW_UT_partial : 0, 0});
	dm_die(alt, DW_TAG_partial_unit, true);
	size_t integer = made_base(alt, "int", DW_ATE_signed, 4);
	*type_out = dm_die(alt, DW_TAG_structure_type, true);
	dm_name(alt, "shared");
	dm_number(alt, DW_AT_byte_size, DW_FORM_data1, 4);
	dm_die(alt, DW_TAG_member, false);
	dm_name(alt, "field");
	dm_number(alt, DW_AT_type, DW_FORM_ref4, integer);
	dm_number(alt, DW_AT_data_member_location, DW_FORM_data1, 0);
	dm_end(alt);
	dm_end(alt);
	dm_unit_end(alt);
	if (five) {
		dm_u(alt, DM_SUP, 5, 2);
		dm_u(alt, DM_SUP, 1, 1);
		dm_string(alt, DM_SUP, "");
		dm_uleb(alt, DM_SUP, sizeof ID);
		dm_bytes(alt, DM_SUP, ID, sizeof ID);
	} else {
		note_id(alt, ID);
	}
}

static void write_user(struct dm *dm, bool five, unsigned type_form, unsigned name_form, size_t type, size_t name,
		       unsigned offset_size)
{
	dm_unit(dm, &(struct dm_unit){five ? 5 : 4, offset_size, 8, 0, 0});
	dm_die(dm, DW_TAG_compile_unit, true);
	covers(dm);
	dm_die(dm, DW_TAG_subprogram, true);
	dm_number(dm, DW_AT_name, name_form, name);
	covers(dm);
	dm_die(dm, DW_TAG_variable, false);
	dm_number(dm, DW_AT_name, name_form, name);
	dm_number(dm, DW_AT_type, type_form, type);
	dm_block(dm, DW_AT_const_value, DW_FORM_block1, (uint8_t[]){6, 0, 0, 0}, 4);
	dm_end(dm);
	dm_end(dm);
	dm_unit_end(dm);
	if (five) {
		dm_u(dm, DM_SUP, 5, 2);
		dm_u(dm, DM_SUP, 0, 1);
		dm_string(dm, DM_SUP, "common");
		dm_uleb(dm, DM_SUP, sizeof ID);
	} else {
		dm_string(dm, DM_ALTLINK, "common");
	}
	dm_bytes(dm, five ? DM_SUP : DM_ALTLINK, ID, sizeof ID);
}

static void common_parts_are_taken_from_their_file(void **state)
{
	(void)state;
	static const struct {
		bool five;
		unsigned type_form, name_form, offset_size;
	} cases[] = {
		{false, DW_FORM_GNU_ref_alt, DW_FORM_GNU_strp_alt, 4},
		{false, DW_FORM_GNU_ref_alt, DW_FORM_GNU_strp_alt, 8},
		{true, DW_FORM_ref_sup4, DW_FORM_strp_sup, 4},
		{true, DW_FORM_ref_sup4, DW_FORM_strp_sup, 8},
		{true, DW_FORM_ref_sup8, DW_FORM_strp_sup, 4},
		{true, DW_FORM_ref_sup8, DW_FORM_strp_sup, 8},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++)
		for (unsigned there = 0; there < 2; there++) {
			struct dm alt = {0}, dm = {0};
			size_t type, name;
			write_common(&alt, cases[i].five, &type, &name);
			dm_file(&alt, there ? "common" : "elsewhere");
			if (!there)
				shell("rm -f common");
			write_user(&dm, cases[i].five, cases[i].type_form, cases[i].name_form, type, name,
				   cases[i].offset_size);
			struct mapped m = use(&dm, "user");
			const char *why = xc_debugfile_why(xc_debugfile_of(m.process, m.module));
			assert_string_equal(function_at(&m, CODE), there ? "shared_name" : "");
			assert_string_equal(variable_at(&m, CODE),
					    there ? "shared_name: struct shared = {field = 6}"
						  : "(null): <unknown type> = <its size is not known>");
			if (there)
				assert_null(why);
			else
				assert_non_null(strstr(why, "common"));
			end_use(&m);
			dm_fini(&alt);
			dm_fini(&dm);
		}
}

/* ---- split units ---- */

static void expect_split(struct mapped *m)
{
	const char *why = xc_debugfile_why(xc_debugfile_of(m->process, m->module));
	if (why)
		fail_msg("why is \"%s\"", why);
	assert_string_equal(function_at(m, CODE + 0x3f), "");
	assert_string_equal(function_at(m, CODE + 0x40), "split_function");
	assert_string_equal(function_at(m, CODE + 0x7f), "split_function");
	assert_string_equal(function_at(m, CODE + 0x80), "");
	assert_string_equal(variable_at(m, CODE + 0x40), "given: struct elsewhere = {inside = 7}");
}

static void split_units_are_read(void **state)
{
	(void)state;
	for (unsigned version = 4; version <= 5; version++) {
		struct dm dm = {0}, dwo = {0};
		shell("rm -f odd.dwo odd.dwp");
		write_skeleton(&dm, version);
		write_split(&dwo, version);
		write_type_unit(&dwo, version, SIGNATURE, "inside");
		dm_file(&dwo, "odd.dwo");
		struct mapped m = use(&dm, "odd");
		expect_split(&m);
		end_use(&m);
		dm_fini(&dm);
		dm_fini(&dwo);
	}
}

/* ---- a package ---- */

enum { SECT_INFO = 1, SECT_TYPES, SECT_ABBREV, SECT_LINE, SECT_LOC, SECT_STR_OFFSETS, SECT_RNGLISTS = 8 };

struct contribution {
	uint64_t id;
	uint32_t offsets[8], sizes[8]; /* by column */
};

static void write_index(struct dm *dm, enum dm_section section, unsigned version, const uint32_t *columns,
			size_t column_count, const struct contribution *rows, size_t row_count)
{
	enum { SLOTS = 4 };
	uint64_t ids[SLOTS] = {0};
	uint32_t slots[SLOTS] = {0};
	dm_u(dm, section, version, version >= 5 ? 2 : 4);
	if (version >= 5)
		dm_u(dm, section, 0, 2);
	dm_u(dm, section, column_count, 4);
	dm_u(dm, section, row_count, 4);
	dm_u(dm, section, SLOTS, 4);
	for (uint32_t i = 0; i < row_count; i++) {
		uint32_t at = (uint32_t)rows[i].id & (SLOTS - 1),
			 step = ((uint32_t)(rows[i].id >> 32) & (SLOTS - 1)) | 1;
		while (slots[at])
			at = (at + step) & (SLOTS - 1);
		ids[at] = rows[i].id;
		slots[at] = i + 1;
	}
	for (size_t i = 0; i < SLOTS; i++)
		dm_u(dm, section, ids[i], 8);
	for (size_t i = 0; i < SLOTS; i++)
		dm_u(dm, section, slots[i], 4);
	for (size_t i = 0; i < column_count; i++)
		dm_u(dm, section, columns[i], 4);
	for (size_t r = 0; r < row_count; r++)
		for (size_t i = 0; i < column_count; i++)
			dm_u(dm, section, rows[r].offsets[i], 4);
	for (size_t r = 0; r < row_count; r++)
		for (size_t i = 0; i < column_count; i++)
			dm_u(dm, section, rows[r].sizes[i], 4);
}

/* Append one .dwo's section to another's; the row gets the contribution. */
static void contribute(struct dm *dwp, const struct dm *dwo, enum dm_section section, struct contribution *row,
		       size_t column)
{
	row->offsets[column] = (uint32_t)dm_at(dwp, section);
	row->sizes[column] = (uint32_t)dm_at(dwo, section);
	dm_bytes(dwp, section, dwo->sections[section].bytes ? dwo->sections[section].bytes : "", dm_at(dwo, section));
}

/* Three .dwo files: another unit, ours, and one with the type unit, which has its own strings and abbreviations. */
static void write_package(struct dm *dwp, unsigned version)
{
	static const uint32_t columns4[] = {SECT_INFO, SECT_ABBREV, SECT_LOC, SECT_STR_OFFSETS},
			      columns5[] = {SECT_INFO, SECT_ABBREV, SECT_LOC, SECT_STR_OFFSETS, SECT_RNGLISTS},
			      types4[] = {SECT_TYPES, SECT_ABBREV, SECT_STR_OFFSETS},
			      types5[] = {SECT_INFO, SECT_ABBREV, SECT_STR_OFFSETS};
	static const enum dm_section sections4[] = {DM_INFO, DM_ABBREV, DM_LOC, DM_STR_OFFSETS},
				     sections5[] = {DM_INFO, DM_ABBREV, DM_LOCLISTS, DM_STR_OFFSETS, DM_RNGLISTS};
	bool five = version >= 5;
	size_t count = five ? XC_COUNT(columns5) : XC_COUNT(columns4);
	struct contribution units[2] = {{.id = DWO_ID + 4}, {.id = DWO_ID}}, type = {.id = SIGNATURE};
	struct dm ours = {0}, other = {0}, types = {0};
	dwp->dwo = true;
	write_split(&ours, version);
	write_split(&other, version);
	write_type_unit(&types, version, SIGNATURE, "inside");
	/* the other unit's strings differ */
	other.sections[DM_STR].bytes[0] = 'X';
	for (size_t i = 0; i < count; i++) {
		contribute(dwp, &other, (five ? sections5 : sections4)[i], &units[0], i);
		contribute(dwp, &ours, (five ? sections5 : sections4)[i], &units[1], i);
	}
	dm_bytes(dwp, DM_STR, ours.sections[DM_STR].bytes,
		 dm_at(&ours, DM_STR)); /* offsets of both are relative to it */
	contribute(dwp, &types, five ? DM_INFO : DM_TYPES, &type, 0);
	contribute(dwp, &types, DM_ABBREV, &type, 1);
	type.offsets[2] = units[0].offsets[3]; /* strings: the other's, to distinguish them from ours */
	type.sizes[2] = units[0].sizes[3];
	write_index(dwp, DM_CU_INDEX, five ? 5 : 2, five ? columns5 : columns4, count, units, 2);
	write_index(dwp, DM_TU_INDEX, five ? 5 : 2, five ? types5 : types4, 3, &type, 1);
	dm_fini(&ours);
	dm_fini(&other);
	dm_fini(&types);
}

static void packages_are_read_by_their_index(void **state)
{
	(void)state;
	for (unsigned version = 4; version <= 5; version++) {
		struct dm dm = {0}, dwp = {0};
		shell("rm -f odd.dwo odd.dwp");
		write_skeleton(&dm, version);
		write_package(&dwp, version);
		dm_file(&dwp, "odd.dwp");
		struct mapped m = use(&dm, "odd");
		expect_split(&m);
		end_use(&m);
		dm_fini(&dm);
		dm_fini(&dwp);
	}
}

/* Wrong indexes: no slots, no rows, contributions out of bounds, a missing row, a table without an empty slot. */
static void indexes_that_lie_give_nothing(void **state)
{
	(void)state;
	for (unsigned lie = 0; lie < 6; lie++) {
		struct dm dm = {0}, dwp = {0};
		shell("rm -f odd.dwo odd.dwp");
		write_skeleton(&dm, 5);
		write_package(&dwp, 5);
		uint8_t *index = (uint8_t *)dwp.sections[DM_CU_INDEX].bytes;
		size_t size = dm_at(&dwp, DM_CU_INDEX), rows = 16 + 4 * 8;
		if (lie == 0)
			memset(index + 12, 0, 4); /* slots */
		else if (lie == 1)
			memset(index + 8, 0xff, 4); /* rows */
		else if (lie == 2)
			index[12] = 3; /* the number of slots is not a power of two */
		else if (lie == 3)
			memset(index + rows, 0x7f, 4 * 4); /* rows of the slots */
		else if (lie == 4)
			memset(index + size - 2 * 5 * 4, 0xff, 2 * 5 * 4); /* sizes */
		else
			for (size_t i = 0; i < 4; i++) { /* no empty slot, and not our id */
				memset(index + 16 + 8 * i, 0x5a, 8);
				index[rows + 4 * i] = 1;
			}
		dm_file(&dwp, "odd.dwp");
		struct mapped m = use(&dm, "odd");
		assert_non_null(xc_debugfile_why(xc_debugfile_of(m.process, m.module)));
		assert_string_equal(function_at(&m, CODE + 0x40), "");
		end_use(&m);
		dm_fini(&dm);
		dm_fini(&dwp);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(common_parts_are_taken_from_their_file),
		cmocka_unit_test(split_units_are_read),
		cmocka_unit_test(packages_are_read_by_their_index),
		cmocka_unit_test(indexes_that_lie_give_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
