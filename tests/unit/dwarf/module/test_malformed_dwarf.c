/* layer: dwarf */
/* Hand-written debug information in several files: dwz's common file, DWARF 5's supplementary file, a .dwo, a .dwp; and
 * malformed information: missing facts are not invented, and nothing hangs. */
#include <stdio.h>
#include <unistd.h>

#include "tests/support/made.h"
#include "tests/support/mapped_fixture.h"

#include "dwarf/module/debugfile.h"
#include "dwarf/stack/variable.h"

enum { CODE = 0x4000, CODE_SIZE = 0x100, SECONDS = 10 };
static const struct xc_finder nowhere;

/* ---- a module from a file ---- */

static struct mapped use(struct dm *dm, const char *name)
{
	dm->base = CODE;
	const char *path = dm_file(dm, name);
	struct mapped m = map_file(path, path, true);
	xc_finder_module(&nowhere, m.process, m.module);
	xc_debugfiles_use(m.process, &nowhere);
	check_effort(SECONDS);
	return m;
}

static void end_use(struct mapped *m)
{
	check_effort(0);
	xc_debuginfo_close(m->process);
	xc_debugfiles_close(m->process);
	unmap(m);
}

static const struct xc_place *place_at(struct mapped *m, uint64_t file_addr)
{
	return xc_debuginfo_place(m->process, MAPPED_BIAS + file_addr);
}

/* The name of the innermost function, or "". */
static const char *function_at(struct mapped *m, uint64_t file_addr)
{
	const struct xc_place *place = place_at(m, file_addr);
	return place->level_count && place->levels[0].function ? place->levels[0].function : "";
}

/* "name: type = value" of the innermost function's first variable. */
static const char *variable_at(struct mapped *m, uint64_t file_addr)
{
	const struct xc_place *place = place_at(m, file_addr);
	struct xc_types *types = xc_types_of(m->process);
	struct xc_arena *scratch = types->arena;
	struct xc_expr_context context = {
		.process = m->process, .module = m->module, .scratch = scratch, .file_addr = file_addr};
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	struct xc_value value;
	Dwarf_Die die;
	if (!place->level_count || place->line_only || !xc_die_child(&place->levels[0].die, &die))
		return "nothing";
	const char *name = dwarf_diename(&die);
	xc_text_printf(&text, "%s: %s = ", name ? name : "(null)", xc_type_name(xc_type_of(types, &die)));
	xc_expr_variable(&context, &die, &value);
	xc_format_value(&text, &value, &options);
	const char *kept = xc_arena_strdup(scratch, xc_text_string(&text));
	xc_text_fini(&text);
	return kept;
}

/* Attributes of a unit, or of a function, that covers the code. */
static void covers(struct dm *dm)
{
	dm_number(dm, DW_AT_low_pc, DW_FORM_addr, CODE);
	dm_number(dm, DW_AT_high_pc, dm->version >= 4 ? DW_FORM_data4 : DW_FORM_addr,
		  dm->version >= 4 ? CODE_SIZE : CODE + CODE_SIZE);
}

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

static const uint64_t DWO_ID = 0x0102030405060708;
static const uint64_t SIGNATURE = 0x8877665544332211;

/* The skeleton: addresses 0x4000 and 0x4040, after another unit's. */
static void write_skeleton(struct dm *dm, unsigned version)
{
	size_t begin, base;
	dm->version = version;
	dm->offset_size = 4;
	dm->address_size = 8;
	dm_u(dm, DM_ADDR, 0xbad, 8);
	base = dm_table(dm, DM_ADDR, 0, &begin);
	dm_u(dm, DM_ADDR, CODE, 8);
	dm_u(dm, DM_ADDR, CODE + 0x40, 8);
	if (version >= 5)
		dm_length(dm, DM_ADDR, begin);
	dm_u(dm, DM_RANGES, 0xbad, 8); /* of another unit; DWARF 4's split unit counts from after it */
	dm_u(dm, DM_RANGES, 0x40, 8);
	dm_u(dm, DM_RANGES, 0x80, 8);
	dm_u(dm, DM_RANGES, 0, 16);
	dm_unit(dm, &(struct dm_unit){version, 4, 8, version >= 5 ? DW_UT_skeleton : 0, DWO_ID});
	dm_die(dm, version >= 5 ? DW_TAG_skeleton_unit : DW_TAG_compile_unit, false);
	dm_attr(dm, version >= 5 ? DW_AT_dwo_name : DW_AT_GNU_dwo_name, DW_FORM_string);
	dm_string(dm, DM_INFO, "odd.dwo");
	if (version < 5) {
		dm_number(dm, DW_AT_GNU_dwo_id, DW_FORM_data8, DWO_ID);
		dm_number(dm, DW_AT_GNU_ranges_base, DW_FORM_sec_offset, 8);
	}
	dm_number(dm, version >= 5 ? DW_AT_addr_base : DW_AT_GNU_addr_base, DW_FORM_sec_offset, base);
	covers(dm);
	dm_unit_end(dm);
}

/* Its split unit: a function over [0x4040, 0x4080) by ranges, with an argument in a location list relative to the
 * unit's base and a type in a type unit; the function's name is a string by index. */
static void write_split(struct dm *dm, unsigned version)
{
	size_t begin, table, list;
	dm->dwo = true;
	dm->version = version;
	dm->offset_size = 4;
	dm->address_size = 8;
	dm_table(dm, DM_STR_OFFSETS, 0, &begin);
	dm_strx(dm, "unused");
	dm_strx(dm, "split_function");
	if (version >= 5) {
		dm_length(dm, DM_STR_OFFSETS, begin);
		table = dm_table(dm, DM_LOCLISTS, 1, &begin);
		dm_patch(dm, DM_LOCLISTS, table, dm_at(dm, DM_LOCLISTS) - table, 4);
		dm_u(dm, DM_LOCLISTS, DW_LLE_offset_pair, 1);
		dm_uleb(dm, DM_LOCLISTS, 0x40);
		dm_uleb(dm, DM_LOCLISTS, 0x80);
		dm_uleb(dm, DM_LOCLISTS, 6);
		dm_bytes(dm, DM_LOCLISTS, (uint8_t[]){DW_OP_implicit_value, 4, 7, 0, 0, 0}, 6);
		dm_u(dm, DM_LOCLISTS, DW_LLE_end_of_list, 1);
		dm_length(dm, DM_LOCLISTS, begin);
		table = dm_table(dm, DM_RNGLISTS, 1, &begin);
		dm_patch(dm, DM_RNGLISTS, table, dm_at(dm, DM_RNGLISTS) - table, 4);
		dm_u(dm, DM_RNGLISTS, DW_RLE_startx_length, 1);
		dm_uleb(dm, DM_RNGLISTS, 1);
		dm_uleb(dm, DM_RNGLISTS, 0x40);
		dm_u(dm, DM_RNGLISTS, DW_RLE_end_of_list, 1);
		dm_length(dm, DM_RNGLISTS, begin);
		list = 0;
	} else {
		list = dm_at(dm, DM_LOC);
		dm_u(dm, DM_LOC, DW_LLE_GNU_start_length_entry, 1);
		dm_uleb(dm, DM_LOC, 1);
		dm_u(dm, DM_LOC, 0x40, 4);
		dm_u(dm, DM_LOC, 6, 2);
		dm_bytes(dm, DM_LOC, (uint8_t[]){DW_OP_implicit_value, 4, 7, 0, 0, 0}, 6);
		dm_u(dm, DM_LOC, DW_LLE_GNU_end_of_list_entry, 1);
	}
	dm_unit(dm, &(struct dm_unit){version, 4, 8, version >= 5 ? DW_UT_split_compile : 0, DWO_ID});
	dm_die(dm, DW_TAG_compile_unit, true);
	if (version < 5)
		dm_number(dm, DW_AT_GNU_dwo_id, DW_FORM_data8, DWO_ID);
	dm_name(dm, "odd.c");
	dm_die(dm, DW_TAG_subprogram, true);
	dm_number(dm, DW_AT_name, version >= 5 ? DW_FORM_strx1 : DW_FORM_GNU_str_index, 1);
	dm_number(dm, DW_AT_ranges, version >= 5 ? DW_FORM_rnglistx : DW_FORM_sec_offset, 0);
	dm_die(dm, DW_TAG_formal_parameter, false);
	dm_name(dm, "given");
	dm_number(dm, DW_AT_type, DW_FORM_ref_sig8, SIGNATURE);
	dm_number(dm, DW_AT_location, version >= 5 ? DW_FORM_loclistx : DW_FORM_sec_offset, list);
	dm_end(dm);
	dm_end(dm);
	dm_unit_end(dm);
}

static void write_type_unit(struct dm *dm, unsigned version, uint64_t signature, const char *field)
{
	dm_unit(dm, &(struct dm_unit){version, 4, 8, version >= 5 ? DW_UT_split_type : DW_UT_type, signature});
	dm_die(dm, DW_TAG_type_unit, true);
	size_t integer = made_base(dm, "int", DW_ATE_signed, 4);
	dm_type_offset(dm, dm_die(dm, DW_TAG_structure_type, true));
	dm_name(dm, "elsewhere");
	dm_number(dm, DW_AT_byte_size, DW_FORM_data1, 4);
	dm_die(dm, DW_TAG_member, false);
	dm_name(dm, field);
	dm_number(dm, DW_AT_type, DW_FORM_ref4, integer);
	dm_number(dm, DW_AT_data_member_location, DW_FORM_data1, 0);
	dm_end(dm);
	dm_end(dm);
	dm_unit_end(dm);
}

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
		cmocka_unit_test(common_parts_are_taken_from_their_file),
		cmocka_unit_test(split_units_are_read),
		cmocka_unit_test(packages_are_read_by_their_index),
		cmocka_unit_test(indexes_that_lie_give_nothing),
		cmocka_unit_test(what_is_wrong_is_left_out),
		cmocka_unit_test(units_of_wrong_lengths_are_not_followed),
		cmocka_unit_test(damage_anywhere_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
