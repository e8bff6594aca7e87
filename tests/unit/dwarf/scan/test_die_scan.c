/* layer: dwarf */
#include "dwarf/scan/die_scan.h"

#include <dwarf.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/dwarfmake.h"

static struct xc_cursor section(const struct dm *dm, enum dm_section which)
{
	const struct xc_text *text = &dm->sections[which];
	return text->len ? xc_cursor(text->bytes, text->len, "a section") : xc_cursor("", 0, "a section");
}

static struct xc_die_scan_space space_of(const struct dm *dm)
{
	return (struct xc_die_scan_space){.info = section(dm, DM_INFO),
					  .abbrev = section(dm, DM_ABBREV),
					  .str = section(dm, DM_STR),
					  .line_str = section(dm, DM_LINE_STR),
					  .str_offsets = section(dm, DM_STR_OFFSETS),
					  .alt_str = xc_cursor("", 0, ".debug_str"),
					  .alt_info = xc_cursor("", 0, ".debug_info"),
					  .macro = xc_cursor("", 0, ".debug_macro")};
}

static bool is_text(const struct xc_die_scan_space *space, struct xc_die_scan_string string, const char *text)
{
	size_t len;
	const char *have = xc_die_scan_text(space, string, &len);
	return have && len == strlen(text) && !memcmp(have, text, len);
}

/* Enter the first unit and read its first DIE. */
static struct xc_die_scan *entered(const struct xc_die_scan_space *space, struct xc_die_scan_entry *unit_die)
{
	struct xc_die_scan_unit unit;
	uint64_t offset = 0;
	struct xc_die_scan *scan = xc_die_scan_new(space);
	assert_true(xc_die_scan_next_unit(space, &offset, &unit));
	assert_true(xc_die_scan_enter(scan, &unit));
	assert_true(xc_die_scan_next(scan, unit_die));
	return scan;
}

static void forms_that_stand_in_the_entry_are_kept(void **state)
{
	struct dm dm = {0};
	struct xc_die_scan_entry die;
	(void)state;
	dm_unit(&dm, &(struct dm_unit){0});
	dm_die(&dm, DW_TAG_compile_unit, true);
	dm_die(&dm, DW_TAG_variable, false);
	dm_indirect(&dm, DW_AT_external, DW_FORM_flag_present, 0);
	dm_indirect(&dm, DW_AT_name, DW_FORM_strp, dm_string(&dm, DM_STR, "one"));
	dm_indirect(&dm, DW_AT_decl_column, DW_FORM_data2, 3); /* passed over */
	dm_indirect(&dm, DW_AT_decl_line, DW_FORM_udata, 300);
	dm_die(&dm, DW_TAG_variable, false);
	dm_name(&dm, "two");
	dm_end(&dm);
	dm_unit_end(&dm);
	const struct xc_die_scan_space space = space_of(&dm);
	struct xc_die_scan *scan = entered(&space, &die);
	assert_true(xc_die_scan_next(scan, &die));
	assert_true(is_text(&space, die.name, "one"));
	assert_true(die.has & XC_DIE_SCAN_EXTERNAL);
	assert_int_equal(die.line, 300);
	assert_true(xc_die_scan_next(scan, &die));
	assert_true(is_text(&space, die.name, "two"));
	xc_die_scan_free(scan);
	dm_fini(&dm);
}

static void references_to_the_file_of_common_parts_are_told(void **state)
{
	static const unsigned forms[] = {DW_FORM_GNU_ref_alt, DW_FORM_ref_sup4, DW_FORM_ref_sup8};
	struct dm dm = {0};
	struct xc_die_scan_entry die;
	(void)state;
	dm_unit(&dm, &(struct dm_unit){0});
	dm_die(&dm, DW_TAG_compile_unit, true);
	for (size_t i = 0; i < XC_COUNT(forms); i++) {
		dm_die(&dm, DW_TAG_subprogram, false);
		dm_attr(&dm, DW_AT_specification, forms[i]);
		dm_u(&dm, DM_INFO, 0x1234, forms[i] == DW_FORM_ref_sup8 ? 8 : 4);
	}
	dm_end(&dm);
	dm_unit_end(&dm);
	const struct xc_die_scan_space space = space_of(&dm);
	struct xc_die_scan *scan = entered(&space, &die);
	for (size_t i = 0; i < XC_COUNT(forms); i++) {
		assert_true(xc_die_scan_next(scan, &die));
		assert_int_equal(die.tag, DW_TAG_subprogram);
		assert_true(die.has & XC_DIE_SCAN_FAR_ORIGIN && die.has & XC_DIE_SCAN_ALT_ORIGIN);
		assert_int_equal(die.origin, 0x1234);
	}
	xc_die_scan_free(scan);
	dm_fini(&dm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_that_stand_in_the_entry_are_kept),
		cmocka_unit_test(references_to_the_file_of_common_parts_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
