/* split_unit: a module whose debug information is hand-written, and hand-written split units: a skeleton, its .dwo, a
 * type unit. */
#ifndef XC_TEST_SPLIT_UNIT_H
#define XC_TEST_SPLIT_UNIT_H

#include <stdio.h>
#include <unistd.h>

#include "dwarf/module/debugfile.h"
#include "dwarf/stack/variable.h"
#include "tests/support/made.h"
#include "tests/support/mapped_fixture.h"

enum { CODE = 0x4000, CODE_SIZE = 0x100, SECONDS = 10 };
static const struct xc_finder nowhere;

static inline struct mapped use(struct dm *dm, const char *name)
{
	dm->base = CODE;
	const char *path = dm_file(dm, name);
	struct mapped m = map_file(path, path, true);
	xc_finder_module(&nowhere, m.process, m.module);
	xc_debugfiles_use(m.process, &nowhere);
	check_effort(SECONDS);
	return m;
}

static inline void end_use(struct mapped *m)
{
	check_effort(0);
	xc_debuginfo_close(m->process);
	xc_debugfiles_close(m->process);
	unmap(m);
}

static inline const struct xc_place *place_at(struct mapped *m, uint64_t file_addr)
{
	return xc_debuginfo_place(m->process, MAPPED_BIAS + file_addr);
}

/* The name of the innermost function, or "". */
static inline const char *function_at(struct mapped *m, uint64_t file_addr)
{
	const struct xc_place *place = place_at(m, file_addr);
	return place->level_count && place->levels[0].function ? place->levels[0].function : "";
}

/* "name: type = value" of the innermost function's first variable. */
static inline const char *variable_at(struct mapped *m, uint64_t file_addr)
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
static inline void covers(struct dm *dm)
{
	dm_number(dm, DW_AT_low_pc, DW_FORM_addr, CODE);
	dm_number(dm, DW_AT_high_pc, dm->version >= 4 ? DW_FORM_data4 : DW_FORM_addr,
		  dm->version >= 4 ? CODE_SIZE : CODE + CODE_SIZE);
}

static const uint64_t DWO_ID = 0x0102030405060708;
static const uint64_t SIGNATURE = 0x8877665544332211;

/* The skeleton: addresses 0x4000 and 0x4040, after another unit's. */
static inline void write_skeleton(struct dm *dm, unsigned version)
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
static inline void write_split(struct dm *dm, unsigned version)
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

static inline void write_type_unit(struct dm *dm, unsigned version, uint64_t signature, const char *field)
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

#endif
