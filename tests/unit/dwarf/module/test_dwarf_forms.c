/* layer: dwarf */
/* Every form of an attribute (DWARF 5, 7.5.5 and 7.5.6; those of versions 2 to 4 and GNU's), in every version and width
 * that has it. The expected value is next to the written one. */
#include <stdio.h>

#include "tests/support/made.h"

#include "dwarf/scan/raw.h"

/* Versions and widths. */
static const struct dm_unit SHAPES[] = {{2, 4, 8, 0, 0}, {3, 4, 8, 0, 0}, {3, 8, 8, 0, 0}, {4, 4, 8, 0, 0},
					{4, 8, 8, 0, 0}, {5, 4, 8, 0, 0}, {5, 8, 8, 0, 0}, {5, 4, 4, 0, 0}};

static const char *shape_name(const struct dm_unit *u, const char *what)
{
	static char text[128];
	snprintf(text, sizeof text, "%s, version %u, %u-bit", what, u->version, u->offset_size * 8);
	return text;
}

/* The raw reader sees the same attributes as libdw, with the same lengths: both reach the end of each entry. */
static void raw_agrees(struct made *m, enum dm_section section, const struct dm *dm)
{
	struct xc_cursor info = xc_cursor(dm->sections[section].bytes, dm_at(dm, section), "info");
	const struct xc_text *abbrev = &dm->sections[DM_ABBREV];
	struct xc_raw_unit unit;
	for (; xc_cursor_left(&info); info.at += unit.size) {
		assert_true(xc_raw_unit_at(info, section == DM_TYPES, &unit));
		struct xc_cursor entry = info;
		entry.end = info.at + unit.size;
		entry.at += unit.first;
		while (xc_cursor_left(&entry)) {
			struct xc_raw_abbrev a;
			struct xc_raw_attribute attribute;
			uint64_t code;
			struct xc_cursor table = xc_cursor(abbrev->bytes, abbrev->len, "abbrev");
			CHECK_OK(xc_cursor_skip(&table, (size_t)unit.abbrev));
			CHECK_OK(xc_cursor_uleb(&entry, &code));
			if (code == 0)
				continue;
			assert_true(xc_raw_abbrev_of(table, code, &a));
			while (xc_raw_attribute_next(&unit, &a.attributes, &entry, &attribute))
				;
			assert_int_equal(attribute.name, 0);
		}
	}
	(void)m;
}

/* ---- constants ---- */

struct constant {
	unsigned form;
	uint64_t value;
	unsigned first; /* version that introduced it */
	const char *as_int, *as_unsigned;
};

static const struct constant CONSTANTS[] = {
	{DW_FORM_data1, 0x7f, 2, "127", "127"},
	{DW_FORM_data2, 0x1234, 2, "4660", "4660"},
	{DW_FORM_data4, 0xfffffffe, 2, "-2", "4294967294"},
	{DW_FORM_data8, 0xfffffffffffffffd, 2, "-3", "4294967293"},
	{DW_FORM_sdata, (uint64_t)-5, 2, "-5", "4294967291"},
	{DW_FORM_udata, 300, 2, "300", "300"},
	{DW_FORM_implicit_const, (uint64_t)-7, 5, "-7", "4294967289"},
	{DW_FORM_implicit_const, 1000, 5, "1000", "1000"},
};

static void add_constant(struct dm *dm, const char *name, size_t type, const struct constant *c, bool indirect)
{
	made_variable(dm, name, type);
	if (indirect)
		dm_indirect(dm, DW_AT_const_value, c->form, c->value);
	else
		dm_number(dm, DW_AT_const_value, c->form, c->value);
}

static void constants_have_their_values(void **state)
{
	(void)state;
	for (size_t s = 0; s < XC_COUNT(SHAPES); s++) {
		char name[32];
		struct dm dm = {0};
		dm_unit(&dm, &SHAPES[s]);
		dm_die(&dm, DW_TAG_compile_unit, true);
		size_t integer = made_base(&dm, "int", DW_ATE_signed, 4);
		size_t number = made_base(&dm, "unsigned", DW_ATE_unsigned, 4);
		for (size_t i = 0; i < XC_COUNT(CONSTANTS); i++) {
			bool may = CONSTANTS[i].form != DW_FORM_implicit_const;
			if (SHAPES[s].version < CONSTANTS[i].first)
				continue;
			snprintf(name, sizeof name, "i%zu", i);
			add_constant(&dm, name, integer, &CONSTANTS[i], false);
			snprintf(name, sizeof name, "u%zu", i);
			add_constant(&dm, name, number, &CONSTANTS[i], may); /* every second one by DW_FORM_indirect */
		}
		dm_end(&dm);
		dm_unit_end(&dm);
		struct made *m = made_open(&dm);
		for (size_t i = 0; i < XC_COUNT(CONSTANTS); i++) {
			if (SHAPES[s].version < CONSTANTS[i].first)
				continue;
			snprintf(name, sizeof name, "i%zu", i);
			made_expect(m, name, 0, CONSTANTS[i].as_int, shape_name(&SHAPES[s], name));
			snprintf(name, sizeof name, "u%zu", i);
			made_expect(m, name, 0, CONSTANTS[i].as_unsigned, shape_name(&SHAPES[s], name));
		}
		raw_agrees(m, DM_INFO, &dm);
		made_close(m);
		dm_fini(&dm);
	}
}

static void wide_constants_and_blocks_have_their_bytes(void **state)
{
	(void)state;
	static const uint8_t bytes[16] = {1, 0, 0, 0, 0, 0, 0, 0, 1};
	static const uint8_t pair[8] = {0x2a, 0, 0, 0, 0x2b};
	static const unsigned blocks[] = {DW_FORM_block1, DW_FORM_block2, DW_FORM_block4, DW_FORM_block};
	for (size_t s = 0; s < XC_COUNT(SHAPES); s++) {
		char name[32];
		struct dm dm = {0};
		dm_unit(&dm, &SHAPES[s]);
		dm_die(&dm, DW_TAG_compile_unit, true);
		size_t integer = made_base(&dm, "int", DW_ATE_signed, 4);
		size_t wide = made_base(&dm, "unsigned __int128", DW_ATE_unsigned, 16);
		size_t letter = made_base(&dm, "char", DW_ATE_signed_char, 1);
		size_t record = dm_die(&dm, DW_TAG_structure_type, true);
		dm_name(&dm, "pair");
		dm_number(&dm, DW_AT_byte_size, DW_FORM_data1, 8);
		for (unsigned i = 0; i < 2; i++) {
			dm_die(&dm, DW_TAG_member, false);
			dm_name(&dm, i ? "b" : "a");
			dm_number(&dm, DW_AT_type, DW_FORM_ref4, integer);
			if (SHAPES[s].version > 2)
				dm_number(&dm, DW_AT_data_member_location, DW_FORM_udata, 4 * i);
			else
				dm_block(&dm, DW_AT_data_member_location, DW_FORM_block1,
					 (uint8_t[]){DW_OP_plus_uconst, (uint8_t)(4 * i)}, 2);
		}
		dm_end(&dm);
		size_t array = dm_die(&dm, DW_TAG_array_type, true);
		dm_number(&dm, DW_AT_type, DW_FORM_ref4, letter);
		dm_die(&dm, DW_TAG_subrange_type, false);
		dm_number(&dm, DW_AT_upper_bound, DW_FORM_data1, 5);
		dm_end(&dm);
		if (SHAPES[s].version >= 5) {
			made_variable(&dm, "data16", wide);
			dm_block(&dm, DW_AT_const_value, DW_FORM_data16, bytes, 16);
		}
		for (size_t i = 0; i < XC_COUNT(blocks); i++) {
			snprintf(name, sizeof name, "block%zu", i);
			made_variable(&dm, name, record);
			dm_block(&dm, DW_AT_const_value, blocks[i], pair, sizeof pair);
		}
		made_variable(&dm, "short", record);
		dm_block(&dm, DW_AT_const_value, DW_FORM_block1, pair, 4);
		made_variable(&dm, "text", array);
		dm_attr(&dm, DW_AT_const_value, DW_FORM_string);
		dm_string(&dm, DM_INFO, "hello");
		dm_end(&dm);
		dm_unit_end(&dm);
		struct made *m = made_open(&dm);
		if (SHAPES[s].version >= 5)
			made_expect(m, "data16", 0, "18446744073709551617", shape_name(&SHAPES[s], "data16"));
		for (size_t i = 0; i < XC_COUNT(blocks); i++) {
			snprintf(name, sizeof name, "block%zu", i);
			made_expect(m, name, 0, "{a = 42, b = 43}", shape_name(&SHAPES[s], name));
		}
		made_expect(m, "short", 0, "{a = 42, b = <its constant is shorter than its type>}",
			    shape_name(&SHAPES[s], "a short block"));
		made_expect(m, "text", 0, "\"hello\"", shape_name(&SHAPES[s], "string"));
		raw_agrees(m, DM_INFO, &dm);
		made_close(m);
		dm_fini(&dm);
	}
}

/* ---- strings ---- */

/* Two units: the second one's names use its own table of offsets. */
static void strings_come_from_their_sections(void **state)
{
	(void)state;
	static const unsigned indexed[] = {DW_FORM_strx, DW_FORM_strx1, DW_FORM_strx2, DW_FORM_strx3, DW_FORM_strx4};
	for (size_t s = 0; s < XC_COUNT(SHAPES); s++) {
		struct dm dm = {0};
		struct dm_unit shape = SHAPES[s];
		char name[32];
		size_t begin;
		dm.offset_size = shape.offset_size;
		dm.version = shape.version;
		if (shape.version >= 5) { /* of another unit, so that the base counts */
			dm_table(&dm, DM_STR_OFFSETS, 0, &begin);
			dm_strx(&dm, "wrong");
			dm_length(&dm, DM_STR_OFFSETS, begin);
		}
		size_t base = dm_table(&dm, DM_STR_OFFSETS, 0, &begin);
		for (size_t i = 0; i < XC_COUNT(indexed); i++) {
			snprintf(name, sizeof name, "x%zu", i);
			dm_strx(&dm, name);
		}
		if (shape.version >= 5)
			dm_length(&dm, DM_STR_OFFSETS, begin);
		dm_unit(&dm, &shape);
		dm_die(&dm, DW_TAG_compile_unit, true);
		if (shape.version >= 5)
			dm_number(&dm, DW_AT_str_offsets_base, DW_FORM_sec_offset, base);
		size_t type = made_base(&dm, "int", DW_ATE_signed, 4);
		unsigned next = 0;
#define NAMED(form, number)                                                                                            \
	do {                                                                                                           \
		dm_die(&dm, DW_TAG_variable, false);                                                                   \
		dm_number(&dm, DW_AT_name, form, number);                                                              \
		dm_number(&dm, DW_AT_type, DW_FORM_ref4, type);                                                        \
		dm_number(&dm, DW_AT_const_value, DW_FORM_data1, next++);                                              \
	} while (0)
		NAMED(DW_FORM_strp, dm_string(&dm, DM_STR, "from strp"));
		for (size_t i = 0; shape.version >= 5 && i < XC_COUNT(indexed); i++)
			NAMED(indexed[i], i);
		if (shape.version >= 5)
			NAMED(DW_FORM_line_strp, dm_string(&dm, DM_LINE_STR, "from line_strp"));
		if (shape.version == 4)
			NAMED(DW_FORM_GNU_str_index, 3);
		dm_die(&dm, DW_TAG_variable, false);
		dm_indirect(&dm, DW_AT_name, DW_FORM_strp, dm_string(&dm, DM_STR, "from indirect"));
		dm_number(&dm, DW_AT_type, DW_FORM_ref4, type);
		dm_number(&dm, DW_AT_const_value, DW_FORM_data1, next++);
		dm_end(&dm);
		dm_unit_end(&dm);
		struct made *m = made_open(&dm);
		next = 0;
		const char *what = shape_name(&shape, "names");
#define EXPECT(text)                                                                                                   \
	do {                                                                                                           \
		snprintf(name, sizeof name, "%u", next++);                                                             \
		made_expect(m, text, 0, name, what);                                                                   \
	} while (0)
		EXPECT("from strp");
		static const char *const want[] = {"x0", "x1", "x2", "x3", "x4"};
		for (size_t i = 0; shape.version >= 5 && i < XC_COUNT(indexed); i++)
			EXPECT(want[i]);
		if (shape.version >= 5)
			EXPECT("from line_strp");
		if (shape.version == 4)
			EXPECT("x3");
		EXPECT("from indirect");
		raw_agrees(m, DM_INFO, &dm);
		made_close(m);
		dm_fini(&dm);
	}
}

/* ---- references ---- */

static void references_lead_to_their_entries(void **state)
{
	(void)state;
	static const unsigned inside[] = {DW_FORM_ref1, DW_FORM_ref2, DW_FORM_ref4, DW_FORM_ref8, DW_FORM_ref_udata};
	for (size_t s = 0; s < XC_COUNT(SHAPES); s++) {
		struct dm dm = {0};
		char name[32];
		size_t other = dm_unit(
			&dm, &SHAPES[s]); /* in front, so that offsets in the section differ from those in the unit */
		dm_die(&dm, DW_TAG_compile_unit, true);
		size_t far = made_base(&dm, "short", DW_ATE_signed, 2);
		dm_end(&dm);
		dm_unit_end(&dm);
		dm_unit(&dm, &SHAPES[s]);
		dm_die(&dm, DW_TAG_compile_unit, true);
		size_t near = made_base(&dm, "int", DW_ATE_signed, 4);
		for (size_t i = 0; i < XC_COUNT(inside); i++) {
			dm_die(&dm, DW_TAG_variable, false);
			snprintf(name, sizeof name, "near%zu", i);
			dm_name(&dm, name);
			dm_number(&dm, DW_AT_const_value, DW_FORM_data4, 0x10001);
			if (i % 2)
				dm_indirect(&dm, DW_AT_type, inside[i], near);
			else
				dm_number(&dm, DW_AT_type, inside[i], near);
		}
		dm_die(&dm, DW_TAG_variable, false);
		dm_name(&dm, "far");
		dm_number(&dm, DW_AT_type, DW_FORM_ref_addr, other + far);
		dm_number(&dm, DW_AT_const_value, DW_FORM_data4, 0x10001);
		dm_end(&dm);
		dm_unit_end(&dm);
		struct made *m = made_open(&dm);
		for (size_t i = 0; i < XC_COUNT(inside); i++) {
			snprintf(name, sizeof name, "near%zu", i);
			made_expect(m, name, 0, "65537", shape_name(&SHAPES[s], name));
		}
		made_expect(m, "far", 0, "1", shape_name(&SHAPES[s], "ref_addr"));
		raw_agrees(m, DM_INFO, &dm);
		made_close(m);
		dm_fini(&dm);
	}
}

/* A type unit follows the unit that refers to it, with another unit of a different signature between them. */
static void signatures_lead_to_type_units(void **state)
{
	(void)state;
	for (size_t s = 3; s < XC_COUNT(SHAPES); s++) {
		struct dm dm = {0};
		static const uint64_t ids[] = {0x1111111111111111, 0x8877665544332211};
		dm_unit(&dm, &SHAPES[s]);
		dm_die(&dm, DW_TAG_compile_unit, true);
		for (unsigned i = 0; i < 2; i++) {
			dm_die(&dm, DW_TAG_variable, false);
			dm_name(&dm, i ? "whole" : "no_such_unit");
			dm_number(&dm, DW_AT_type, DW_FORM_ref_sig8, i ? ids[1] : 0x9999);
			dm_block(&dm, DW_AT_const_value, DW_FORM_block1, (uint8_t[]){7, 0, 0, 0}, 4);
		}
		/* gcc's output: a declaration that names the type unit */
		size_t declaration = dm_die(&dm, DW_TAG_structure_type, false);
		dm_name(&dm, "declared");
		dm_number(&dm, DW_AT_declaration, DW_FORM_flag_present, 0);
		dm_number(&dm, DW_AT_signature, DW_FORM_ref_sig8, ids[1]);
		made_variable(&dm, "by_declaration", declaration);
		dm_block(&dm, DW_AT_const_value, DW_FORM_block1, (uint8_t[]){8, 0, 0, 0}, 4);
		dm_end(&dm);
		dm_unit_end(&dm);
		for (unsigned i = 0; i < 2; i++) {
			struct dm_unit type = SHAPES[s];
			type.type = DW_UT_type;
			type.id = ids[i];
			dm_unit(&dm, &type);
			dm_die(&dm, DW_TAG_type_unit, true);
			size_t integer = made_base(&dm, "int", DW_ATE_signed, 4);
			dm_type_offset(&dm, dm_die(&dm, DW_TAG_structure_type, true));
			dm_name(&dm, "declared");
			dm_number(&dm, DW_AT_byte_size, DW_FORM_data1, 4);
			dm_die(&dm, DW_TAG_member, false);
			dm_name(&dm, i ? "right" : "wrong");
			dm_number(&dm, DW_AT_type, DW_FORM_ref4, integer);
			dm_number(&dm, DW_AT_data_member_location, DW_FORM_data1, 0);
			dm_end(&dm);
			dm_end(&dm);
			dm_unit_end(&dm);
		}
		struct made *m = made_open(&dm);
		made_expect(m, "whole", 0, "{right = 7}", shape_name(&SHAPES[s], "ref_sig8"));
		made_expect(m, "by_declaration", 0, "{right = 8}", shape_name(&SHAPES[s], "DW_AT_signature"));
		made_expect(m, "no_such_unit", 0, "<its size is not known>",
			    shape_name(&SHAPES[s], "no such signature"));
		raw_agrees(m, SHAPES[s].version < 5 ? DM_TYPES : DM_INFO, &dm);
		made_close(m);
		dm_fini(&dm);
	}
}

/* ---- flags ---- */

static void flags_are_set_or_not(void **state)
{
	(void)state;
	for (size_t s = 0; s < XC_COUNT(SHAPES); s++) {
		struct dm dm = {0};
		Dwarf_Die die;
		dm_unit(&dm, &SHAPES[s]);
		dm_die(&dm, DW_TAG_compile_unit, true);
		for (unsigned i = 0; i < 4; i++) {
			static const char *const names[] = {"absent", "zero", "one", "present"};
			dm_die(&dm, DW_TAG_variable, false);
			dm_name(&dm, names[i]);
			if (i == 1 || i == 2)
				dm_number(&dm, DW_AT_external, DW_FORM_flag, i - 1);
			else if (i == 3 && SHAPES[s].version >= 4)
				dm_number(&dm, DW_AT_external, DW_FORM_flag_present, 0);
		}
		dm_end(&dm);
		dm_unit_end(&dm);
		struct made *m = made_open(&dm);
		assert_true(made_die(m, "absent", &die) && !xc_die_flag(&die, DW_AT_external));
		assert_true(made_die(m, "zero", &die) && !xc_die_flag(&die, DW_AT_external));
		assert_true(made_die(m, "one", &die) && xc_die_flag(&die, DW_AT_external));
		assert_true(made_die(m, "present", &die));
		assert_int_equal(xc_die_flag(&die, DW_AT_external), SHAPES[s].version >= 4);
		raw_agrees(m, DM_INFO, &dm);
		made_close(m);
		dm_fini(&dm);
	}
}

/* ---- addresses ---- */

static void functions_are_where_their_addresses_say(void **state)
{
	(void)state;
	static const unsigned low[] = {DW_FORM_addr,   DW_FORM_addrx,  DW_FORM_addrx1,
				       DW_FORM_addrx2, DW_FORM_addrx3, DW_FORM_addrx4};
	static const unsigned high[] = {DW_FORM_addr,  DW_FORM_data1, DW_FORM_data2, DW_FORM_data4,
					DW_FORM_data8, DW_FORM_udata, DW_FORM_addrx, DW_FORM_implicit_const};
	for (size_t s = 0; s < XC_COUNT(SHAPES); s++) {
		for (size_t l = 0; l < XC_COUNT(low); l++) {
			for (size_t h = 0; h < XC_COUNT(high); h++) {
				struct dm dm = {0};
				size_t begin, base;
				unsigned version = SHAPES[s].version;
				bool five = low[l] != DW_FORM_addr || high[h] == DW_FORM_addrx ||
					    high[h] == DW_FORM_implicit_const;
				Dwarf_Die die;
				if ((five && version < 5) || (version < 4 && high[h] != DW_FORM_addr))
					continue;
				dm_unit(&dm, &SHAPES[s]);
				base = dm_table(&dm, DM_ADDR, 0, &begin);
				for (unsigned i = 0; i < 3; i++)
					dm_u(&dm, DM_ADDR, 0x4000 + 0x10 * i, dm.address_size);
				if (version >= 5)
					dm_length(&dm, DM_ADDR, begin);
				dm_die(&dm, DW_TAG_compile_unit, true);
				if (version >= 5)
					dm_number(&dm, DW_AT_addr_base, DW_FORM_sec_offset, base);
				dm_die(&dm, DW_TAG_subprogram, false);
				dm_name(&dm, "f");
				dm_number(&dm, DW_AT_low_pc, low[l], low[l] == DW_FORM_addr ? 0x4010 : 1);
				dm_number(&dm, DW_AT_high_pc, high[h],
					  high[h] == DW_FORM_addr    ? 0x4020
					  : high[h] == DW_FORM_addrx ? 2
								     : 0x10);
				dm_end(&dm);
				dm_unit_end(&dm);
				struct made *m = made_open(&dm);
				assert_true(made_die(m, "f", &die));
				if (!xc_die_holds(&die, 0x4010) || !xc_die_holds(&die, 0x401f) ||
				    xc_die_holds(&die, 0x400f) || xc_die_holds(&die, 0x4020))
					fail_msg("%s: low_pc by 0x%x, high_pc by 0x%x",
						 shape_name(&SHAPES[s], "a function"), low[l], high[h]);
				raw_agrees(m, DM_INFO, &dm);
				made_close(m);
				dm_fini(&dm);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_have_their_values),
		cmocka_unit_test(wide_constants_and_blocks_have_their_bytes),
		cmocka_unit_test(strings_come_from_their_sections),
		cmocka_unit_test(references_lead_to_their_entries),
		cmocka_unit_test(signatures_lead_to_type_units),
		cmocka_unit_test(flags_are_set_or_not),
		cmocka_unit_test(functions_are_where_their_addresses_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
