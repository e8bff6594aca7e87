/* layer: dwarf */
/* Location and range lists with every kind of entry (DWARF 5, 2.6.2, 2.17.3, 7.7.3 and 7.25; DWARF 4, 2.6.2 and 2.17.3;
 * GNU's lists of split units), against the expected result at each address. */
#include <stdio.h>

#include "tests/support/made.h"

enum { LOW_PC = 0x4000, VIEW_PAIR = 9 };

/* One entry: its kind and two operands, as the kind requires; a number below 32 is the result of its expression. */
struct entry {
	unsigned kind;
	uint64_t a, b;
	int value; /* -1: without an expression */
};

/* Addresses in .debug_addr. */
static const uint64_t ADDRESSES[] = {0x4000, 0x4010, 0x4020, 0x5000, 0x5010};

static size_t write_addresses(struct dm *dm)
{
	size_t begin, base = dm_table(dm, DM_ADDR, 0, &begin);
	for (size_t i = 0; i < XC_COUNT(ADDRESSES); i++)
		dm_u(dm, DM_ADDR, ADDRESSES[i], dm->address_size);
	if (dm->version >= 5)
		dm_length(dm, DM_ADDR, begin);
	return base;
}

static void put_operand(struct dm *dm, enum dm_section section, unsigned how, uint64_t value)
{
	if (how == 'a')
		dm_u(dm, section, value, dm->address_size);
	else if (how == 'u')
		dm_uleb(dm, section, value);
}

/* Operands by kind: an address, a ULEB128, none. DW_LLE_ and DW_RLE_ have different numbers. */
static const char *operands(enum dm_section section, unsigned kind)
{
	static const char *const loc[] = {[DW_LLE_end_of_list] = "",    [DW_LLE_base_addressx] = "u",
					  [DW_LLE_startx_endx] = "uu",  [DW_LLE_startx_length] = "uu",
					  [DW_LLE_offset_pair] = "uu",  [DW_LLE_default_location] = "",
					  [DW_LLE_base_address] = "a",  [DW_LLE_start_end] = "aa",
					  [DW_LLE_start_length] = "au", [VIEW_PAIR] = "uu"};
	static const char *const rng[] = {
		[DW_RLE_end_of_list] = "",     [DW_RLE_base_addressx] = "u", [DW_RLE_startx_endx] = "uu",
		[DW_RLE_startx_length] = "uu", [DW_RLE_offset_pair] = "uu",  [DW_RLE_base_address] = "a",
		[DW_RLE_start_end] = "aa",     [DW_RLE_start_length] = "au"};
	if (section == DM_LOCLISTS)
		return kind < XC_COUNT(loc) ? loc[kind] : "";
	return kind < XC_COUNT(rng) ? rng[kind] : "";
}

static void write_entries5(struct dm *dm, enum dm_section section, const struct entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *how = operands(section, entries[i].kind);
		dm_u(dm, section, entries[i].kind, 1);
		if (how[0])
			put_operand(dm, section, (unsigned)how[0], entries[i].a);
		if (how[0] && how[1])
			put_operand(dm, section, (unsigned)how[1], entries[i].b);
		if (section == DM_LOCLISTS && entries[i].value >= 0) {
			dm_uleb(dm, section, 2);
			dm_u(dm, section, DW_OP_lit0 + (unsigned)entries[i].value, 1);
			dm_u(dm, section, DW_OP_stack_value, 1);
		}
	}
}

/* The expected result at an address: a number, or -1 for none. */
struct hold {
	uint64_t addr;
	int value;
};

struct list {
	const char *what;
	struct entry entries[6];
	size_t count;
	struct hold holds[6];
	size_t hold_count;
};

#define ENTRIES(...) {__VA_ARGS__}, XC_COUNT(((struct entry[]){__VA_ARGS__}))
#define HOLDS(...)   {__VA_ARGS__}, XC_COUNT(((struct hold[]){__VA_ARGS__}))
#define END                                                                                                            \
	{                                                                                                              \
		DW_LLE_end_of_list, 0, 0, -1                                                                           \
	}

static const struct list LOCATIONS[] = {
	{"offset_pair counts from the unit's base",
	 ENTRIES({DW_LLE_offset_pair, 0, 0x10, 1}, {DW_LLE_offset_pair, 0x10, 0x20, 2}, END),
	 HOLDS({0x3fff, -1}, {0x4000, 1}, {0x400f, 1}, {0x4010, 2}, {0x401f, 2}, {0x4020, -1})},
	{"base_address", ENTRIES({DW_LLE_base_address, 0x6000, 0, -1}, {DW_LLE_offset_pair, 4, 8, 3}, END),
	 HOLDS({0x6003, -1}, {0x6004, 3}, {0x6007, 3}, {0x6008, -1}, {0x4004, -1})},
	{"base_addressx", ENTRIES({DW_LLE_base_addressx, 3, 0, -1}, {DW_LLE_offset_pair, 4, 8, 4}, END),
	 HOLDS({0x5003, -1}, {0x5004, 4}, {0x5007, 4}, {0x5008, -1})},
	{"startx_endx", ENTRIES({DW_LLE_startx_endx, 1, 2, 5}, END),
	 HOLDS({0x400f, -1}, {0x4010, 5}, {0x401f, 5}, {0x4020, -1})},
	{"startx_length", ENTRIES({DW_LLE_startx_length, 3, 0x10, 6}, END),
	 HOLDS({0x4fff, -1}, {0x5000, 6}, {0x500f, 6}, {0x5010, -1})},
	{"start_end", ENTRIES({DW_LLE_start_end, 0x7000, 0x7008, 7}, END),
	 HOLDS({0x7000, 7}, {0x7007, 7}, {0x7008, -1})},
	{"start_length", ENTRIES({DW_LLE_start_length, 0x7000, 0x80, 8}, END),
	 HOLDS({0x7000, 8}, {0x707f, 8}, {0x7080, -1})},
	{"view_pair is passed over", ENTRIES({VIEW_PAIR, 1, 2, -1}, {DW_LLE_start_length, 0x7000, 1, 9}, END),
	 HOLDS({0x7000, 9}, {0x7001, -1})},
	{"default_location", ENTRIES({DW_LLE_start_length, 0x7000, 1, 10}, {DW_LLE_default_location, 0, 0, 11}, END),
	 HOLDS({0x7000, 10}, {0x7001, 11}, {0, 11})},
	{"default_location in front",
	 ENTRIES({DW_LLE_default_location, 0, 0, 12}, {DW_LLE_start_length, 0x7000, 1, 13}, END),
	 HOLDS({0x7000, 13}, {0x7001, 12})},
	{"an empty range holds nowhere",
	 ENTRIES({DW_LLE_start_length, 0x7000, 0, 14}, {DW_LLE_offset_pair, 4, 4, 15}, END),
	 HOLDS({0x7000, -1}, {0x4004, -1})},
	{"a base lasts",
	 ENTRIES({DW_LLE_base_address, 0x6000, 0, -1}, {DW_LLE_start_length, 0x7000, 1, 1},
		 {DW_LLE_offset_pair, 0, 1, 2}, END),
	 HOLDS({0x7000, 1}, {0x6000, 2}, {0x4000, -1})},
	{"an empty list", ENTRIES(END), HOLDS({0x4000, -1}, {0, -1})},
	{"an index out of the table", ENTRIES({DW_LLE_startx_length, 1000, 1, 1}, END), HOLDS({0, -1}, {0x4000, -1})},
	{"an unknown kind", ENTRIES({0x3f, 0, 0, -1}, {DW_LLE_start_length, 0x7000, 1, 1}, END), HOLDS({0x7000, -1})},
};

static void expect_hold(struct made *m, const char *name, const struct hold *hold, const char *what)
{
	char want[24], at[200];
	snprintf(want, sizeof want, hold->value < 0 ? "<optimized out>" : "%d", hold->value);
	snprintf(at, sizeof at, "%s, at 0x%llx", what, (unsigned long long)hold->addr);
	made_expect(m, name, hold->addr, want, at);
}

/* The lists of a version 5 unit, each reached by its offset and by its index. The table of indexes is the second of the
 * section if `base` names it by an attribute, otherwise the first. */
static void check_locations5(const struct dm_unit *shape, bool attribute)
{
	char name[32], what[160];
	struct dm dm = {.version = 5, .offset_size = shape->offset_size, .address_size = shape->address_size};
	size_t begin, table, offsets[XC_COUNT(LOCATIONS)];
	if (attribute) { /* another unit's, first */
		dm_table(&dm, DM_LOCLISTS, 3, &begin);
		dm_length(&dm, DM_LOCLISTS, begin);
	}
	table = dm_table(&dm, DM_LOCLISTS, XC_COUNT(LOCATIONS), &begin);
	for (size_t i = 0; i < XC_COUNT(LOCATIONS); i++) {
		offsets[i] = dm_at(&dm, DM_LOCLISTS);
		dm_patch(&dm, DM_LOCLISTS, table + i * dm.offset_size, offsets[i] - table, dm.offset_size);
		write_entries5(&dm, DM_LOCLISTS, LOCATIONS[i].entries, LOCATIONS[i].count);
	}
	dm_length(&dm, DM_LOCLISTS, begin);
	size_t addresses = write_addresses(&dm);
	dm_unit(&dm, shape);
	dm_die(&dm, DW_TAG_compile_unit, true);
	dm_number(&dm, DW_AT_low_pc, DW_FORM_addr, LOW_PC);
	dm_number(&dm, DW_AT_addr_base, DW_FORM_sec_offset, addresses);
	if (attribute)
		dm_number(&dm, DW_AT_loclists_base, DW_FORM_sec_offset, table);
	size_t type = made_base(&dm, "int", DW_ATE_signed, 4);
	for (size_t i = 0; i < XC_COUNT(LOCATIONS); i++)
		for (unsigned x = 0; x < 2; x++) {
			snprintf(name, sizeof name, "%c%zu", x ? 'x' : 'o', i);
			made_variable(&dm, name, type);
			dm_number(&dm, DW_AT_location, x ? DW_FORM_loclistx : DW_FORM_sec_offset, x ? i : offsets[i]);
		}
	made_variable(&dm, "beyond", type);
	dm_number(&dm, DW_AT_location, DW_FORM_loclistx, 1000000);
	made_variable(&dm, "outside", type);
	dm_number(&dm, DW_AT_location, DW_FORM_sec_offset, 1000000);
	dm_end(&dm);
	dm_unit_end(&dm);
	struct made *m = made_open(&dm);
	for (size_t i = 0; i < XC_COUNT(LOCATIONS); i++)
		for (size_t h = 0; h < 2 * LOCATIONS[i].hold_count; h++) {
			snprintf(name, sizeof name, "%c%zu", h % 2 ? 'x' : 'o', i);
			snprintf(what, sizeof what, "%s (by %s, %u-bit, addresses of %u)", LOCATIONS[i].what,
				 h % 2 ? "index" : "offset", shape->offset_size * 8, shape->address_size);
			expect_hold(m, name, &LOCATIONS[i].holds[h / 2], what);
		}
	made_expect(m, "beyond", 0x4000, "<optimized out>", "an index that no table has");
	made_expect(m, "outside", 0x4000, "<optimized out>", "an offset outside the section");
	made_close(m);
	dm_fini(&dm);
}

static void locations_of_version_5_hold_where_they_say(void **state)
{
	(void)state;
	static const struct dm_unit shapes[] = {{5, 4, 8, 0, 0}, {5, 8, 8, 0, 0}, {5, 4, 4, 0, 0}};
	for (size_t i = 0; i < 2 * XC_COUNT(shapes); i++)
		check_locations5(&shapes[i / 2], i % 2);
}

/* ---- versions 2 to 4 ---- */

static void pair(struct dm *dm, enum dm_section section, uint64_t a, uint64_t b, int value)
{
	dm_u(dm, section, a, dm->address_size);
	dm_u(dm, section, b, dm->address_size);
	if (value < 0)
		return;
	dm_u(dm, section, 1, 2);
	dm_u(dm, section, DW_OP_lit0 + (unsigned)value, 1);
}

static void locations_of_older_versions_hold_where_they_say(void **state)
{
	(void)state;
	static const struct dm_unit shapes[] = {{2, 4, 8, 0, 0}, {3, 4, 8, 0, 0}, {3, 8, 8, 0, 0},
						{4, 4, 8, 0, 0}, {4, 8, 8, 0, 0}, {4, 4, 4, 0, 0}};
	static const struct hold holds[] = {{0x3fff, -1}, {0x4004, 16}, {0x4007, 16}, {0x4008, -1},
					    {0x6004, 17}, {0x6008, -1}, {0x6010, -1}};
	for (size_t s = 0; s < XC_COUNT(shapes); s++) {
		char what[64];
		struct dm dm = {0};
		uint8_t bytes[] = {0};
		dm_unit(&dm, &shapes[s]);
		dm_bytes(&dm, DM_LOC, bytes, 1);
		pair(&dm, DM_LOC, 4, 8, 16); /* memory at 16 is not mapped, so the text shows the address */
		pair(&dm, DM_LOC, shapes[s].address_size == 8 ? UINT64_MAX : UINT32_MAX, 0x6000, -1);
		pair(&dm, DM_LOC, 4, 8, 17);
		pair(&dm, DM_LOC, 0x10, 0x10, 18);
		pair(&dm, DM_LOC, 0, 0, -1);
		dm_die(&dm, DW_TAG_compile_unit, true);
		dm_number(&dm, DW_AT_low_pc, DW_FORM_addr, LOW_PC);
		size_t type = made_base(&dm, "int", DW_ATE_signed, 4);
		made_variable(&dm, "v", type);
		unsigned old = shapes[s].offset_size == 8 ? DW_FORM_data8 : DW_FORM_data4;
		dm_number(&dm, DW_AT_location, shapes[s].version >= 4 ? DW_FORM_sec_offset : old, 1);
		dm_end(&dm);
		dm_unit_end(&dm);
		struct made *m = made_open(&dm);
		for (size_t i = 0; i < XC_COUNT(holds); i++) {
			char want[32];
			snprintf(want, sizeof want, holds[i].value < 0 ? "<optimized out>" : "<0x%x: not mapped>",
				 holds[i].value);
			snprintf(what, sizeof what, "version %u at 0x%llx", shapes[s].version,
				 (unsigned long long)holds[i].addr);
			made_expect(m, "v", holds[i].addr, want, what);
		}
		made_close(m);
		dm_fini(&dm);
	}
}

/* GNU's lists in .debug_loc of split units: kinds, indexes of addresses, lengths of four bytes. */
static void locations_of_gnu_split_units_hold_where_they_say(void **state)
{
	(void)state;
	static const struct hold holds[] = {{0x4010, 1}, {0x401f, 1}, {0x4020, -1},
					    {0x5000, 2}, {0x5007, 2}, {0x5008, -1}};
	struct dm dm = {.version = 4, .offset_size = 4, .address_size = 8};
	write_addresses(&dm);
	for (unsigned i = 1; i < 3; i++) {
		dm_u(&dm, DM_LOC, i == 1 ? DW_LLE_GNU_start_end_entry : DW_LLE_GNU_start_length_entry, 1);
		dm_uleb(&dm, DM_LOC, i == 1 ? 1 : 3);
		if (i == 1)
			dm_uleb(&dm, DM_LOC, 2);
		else
			dm_u(&dm, DM_LOC, 8, 4);
		dm_u(&dm, DM_LOC, 2, 2);
		dm_u(&dm, DM_LOC, DW_OP_lit0 + i, 1);
		dm_u(&dm, DM_LOC, DW_OP_stack_value, 1);
	}
	dm_u(&dm, DM_LOC, DW_LLE_GNU_end_of_list_entry, 1);
	dm_unit(&dm, &(struct dm_unit){4, 4, 8, 0, 0});
	dm_die(&dm, DW_TAG_compile_unit, true);
	dm_number(&dm, DW_AT_GNU_dwo_id, DW_FORM_data8, 1);
	size_t type = made_base(&dm, "int", DW_ATE_signed, 4);
	made_variable(&dm, "v", type);
	dm_number(&dm, DW_AT_location, DW_FORM_sec_offset, 0);
	dm_end(&dm);
	dm_unit_end(&dm);
	struct made *m = made_open(&dm);
	for (size_t i = 0; i < XC_COUNT(holds); i++)
		expect_hold(m, "v", &holds[i], "GNU split list");
	made_close(m);
	dm_fini(&dm);
}

/* ---- ranges ---- */

static const struct list RANGES[] = {
	{"offset_pair counts from the unit's base",
	 ENTRIES({DW_RLE_offset_pair, 0, 0x10, 1}, {DW_RLE_offset_pair, 0x20, 0x30, 1}, END),
	 HOLDS({0x3fff, 0}, {0x4000, 1}, {0x400f, 1}, {0x4010, 0}, {0x4020, 1}, {0x4030, 0})},
	{"base_address", ENTRIES({DW_RLE_base_address, 0x6000, 0, 0}, {DW_RLE_offset_pair, 4, 8, 1}, END),
	 HOLDS({0x6003, 0}, {0x6004, 1}, {0x6008, 0}, {0x4004, 0})},
	{"base_addressx", ENTRIES({DW_RLE_base_addressx, 3, 0, 0}, {DW_RLE_offset_pair, 4, 8, 1}, END),
	 HOLDS({0x5003, 0}, {0x5004, 1}, {0x5008, 0})},
	{"startx_endx", ENTRIES({DW_RLE_startx_endx, 1, 2, 1}, END), HOLDS({0x400f, 0}, {0x4010, 1}, {0x4020, 0})},
	{"startx_length", ENTRIES({DW_RLE_startx_length, 3, 0x10, 1}, END),
	 HOLDS({0x4fff, 0}, {0x5000, 1}, {0x5010, 0})},
	{"start_end", ENTRIES({DW_RLE_start_end, 0x7000, 0x7008, 1}, END),
	 HOLDS({0x7000, 1}, {0x7007, 1}, {0x7008, 0})},
	{"start_length", ENTRIES({DW_RLE_start_length, 0x7000, 0x80, 1}, END),
	 HOLDS({0x7000, 1}, {0x707f, 1}, {0x7080, 0})},
	{"an empty range is passed over",
	 ENTRIES({DW_RLE_start_length, 0x7000, 0, 1}, {DW_RLE_start_length, 0x7100, 1, 1}, END),
	 HOLDS({0x7000, 0}, {0x7100, 1})},
	{"an empty list", ENTRIES(END), HOLDS({0x4000, 0})},
	{"an index out of the table", ENTRIES({DW_RLE_startx_length, 1000, 1, 1}, END), HOLDS({0, 0}, {0x4000, 0})},
	{"an unknown kind", ENTRIES({0x3f, 0, 0, 0}, {DW_RLE_start_length, 0x7000, 1, 1}, END), HOLDS({0x7000, 0})},
};

static void check_ranges5(const struct dm_unit *shape, bool attribute)
{
	char name[32];
	struct dm dm = {.version = 5, .offset_size = shape->offset_size, .address_size = shape->address_size};
	size_t begin, table, offsets[XC_COUNT(RANGES)];
	if (attribute) {
		dm_table(&dm, DM_RNGLISTS, 3, &begin);
		dm_length(&dm, DM_RNGLISTS, begin);
	}
	table = dm_table(&dm, DM_RNGLISTS, XC_COUNT(RANGES), &begin);
	for (size_t i = 0; i < XC_COUNT(RANGES); i++) {
		offsets[i] = dm_at(&dm, DM_RNGLISTS);
		dm_patch(&dm, DM_RNGLISTS, table + i * dm.offset_size, offsets[i] - table, dm.offset_size);
		write_entries5(&dm, DM_RNGLISTS, RANGES[i].entries, RANGES[i].count);
	}
	dm_length(&dm, DM_RNGLISTS, begin);
	size_t addresses = write_addresses(&dm);
	dm_unit(&dm, shape);
	dm_die(&dm, DW_TAG_compile_unit, true);
	dm_number(&dm, DW_AT_low_pc, DW_FORM_addr, LOW_PC);
	dm_number(&dm, DW_AT_addr_base, DW_FORM_sec_offset, addresses);
	if (attribute)
		dm_number(&dm, DW_AT_rnglists_base, DW_FORM_sec_offset, table);
	for (size_t i = 0; i < 2 * XC_COUNT(RANGES); i++) {
		dm_die(&dm, DW_TAG_subprogram, false);
		snprintf(name, sizeof name, "%c%zu", i % 2 ? 'x' : 'o', i / 2);
		dm_name(&dm, name);
		dm_number(&dm, DW_AT_ranges, i % 2 ? DW_FORM_rnglistx : DW_FORM_sec_offset,
			  i % 2 ? i / 2 : offsets[i / 2]);
	}
	dm_end(&dm);
	dm_unit_end(&dm);
	struct made *m = made_open(&dm);
	for (size_t i = 0; i < 2 * XC_COUNT(RANGES); i++) {
		const struct list *list = &RANGES[i / 2];
		Dwarf_Die die;
		snprintf(name, sizeof name, "%c%zu", i % 2 ? 'x' : 'o', i / 2);
		assert_true(made_die(m, name, &die));
		for (size_t h = 0; h < list->hold_count; h++)
			if (xc_die_holds(&die, list->holds[h].addr) != (list->holds[h].value == 1))
				fail_msg("%s (by %s, %u-bit, addresses of %u): 0x%llx is wrong", list->what,
					 i % 2 ? "index" : "offset", shape->offset_size * 8, shape->address_size,
					 (unsigned long long)list->holds[h].addr);
	}
	made_close(m);
	dm_fini(&dm);
}

static void ranges_of_version_5_hold_where_they_say(void **state)
{
	(void)state;
	static const struct dm_unit shapes[] = {{5, 4, 8, 0, 0}, {5, 8, 8, 0, 0}, {5, 4, 4, 0, 0}};
	for (size_t i = 0; i < 2 * XC_COUNT(shapes); i++)
		check_ranges5(&shapes[i / 2], i % 2);
}

static void ranges_of_older_versions_hold_where_they_say(void **state)
{
	(void)state;
	static const struct dm_unit shapes[] = {
		{3, 4, 8, 0, 0}, {3, 8, 8, 0, 0}, {4, 4, 8, 0, 0}, {4, 8, 8, 0, 0}, {4, 4, 4, 0, 0}};
	static const struct hold holds[] = {{0x4003, 0}, {0x4004, 1}, {0x4007, 1}, {0x4008, 0},
					    {0x6004, 1}, {0x6008, 0}, {0x6010, 0}};
	for (size_t s = 0; s < XC_COUNT(shapes); s++) {
		Dwarf_Die die;
		struct dm dm = {0};
		dm_unit(&dm, &shapes[s]);
		dm_u(&dm, DM_RANGES, 0, 1);
		pair(&dm, DM_RANGES, 4, 8, -1);
		pair(&dm, DM_RANGES, 9, 9, -1);
		pair(&dm, DM_RANGES, shapes[s].address_size == 8 ? UINT64_MAX : UINT32_MAX, 0x6000, -1);
		pair(&dm, DM_RANGES, 4, 8, -1);
		pair(&dm, DM_RANGES, 0, 0, -1);
		pair(&dm, DM_RANGES, 0x10, 0x11, -1);
		dm_die(&dm, DW_TAG_compile_unit, true);
		dm_number(&dm, DW_AT_low_pc, DW_FORM_addr, LOW_PC);
		dm_die(&dm, DW_TAG_subprogram, false);
		dm_name(&dm, "f");
		unsigned old = shapes[s].offset_size == 8 ? DW_FORM_data8 : DW_FORM_data4;
		dm_number(&dm, DW_AT_ranges, shapes[s].version >= 4 ? DW_FORM_sec_offset : old, 1);
		dm_end(&dm);
		dm_unit_end(&dm);
		struct made *m = made_open(&dm);
		assert_true(made_die(m, "f", &die));
		for (size_t i = 0; i < XC_COUNT(holds); i++)
			assert_int_equal(xc_die_holds(&die, holds[i].addr), holds[i].value);
		made_close(m);
		dm_fini(&dm);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locations_of_version_5_hold_where_they_say),
		cmocka_unit_test(locations_of_older_versions_hold_where_they_say),
		cmocka_unit_test(locations_of_gnu_split_units_hold_where_they_say),
		cmocka_unit_test(ranges_of_version_5_hold_where_they_say),
		cmocka_unit_test(ranges_of_older_versions_hold_where_they_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
