/* abbrev: abbreviation tables (DWARF 5, 7.5.3), read without libdw. */
#include "dwarf/scan/abbrev.h"

#include <dwarf.h>

#include "dwarf/elf/budget.h"
#include "dwarf/elf/section.h"

enum {
	MAX_TABLE = 4 << 20,      /* bytes */
	MAX_ATTRIBUTES = 1 << 10, /* compilers write a dozen */
	FREE = 1 << 21,           /* abbreviations of all units, and for each byte of the file: */
	OPENED = 8,
	ALL = 32,
};

static bool refers_elsewhere(uint64_t form)
{
	switch (form) {
	case DW_FORM_ref_addr:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_indirect:
		return true;
	default:
		return false;
	}
}

/* Walk the attributes of one abbreviation. */
static struct xc_error *scan_attributes(struct xc_cursor *c, bool *elsewhere)
{
	uint64_t name, form;
	int64_t constant;
	for (size_t i = 0; i < MAX_ATTRIBUTES; i++) {
		struct xc_error *err;
		if ((err = xc_cursor_uleb(c, &name)) || (err = xc_cursor_uleb(c, &form)))
			return err;
		if (form == DW_FORM_implicit_const && (err = xc_cursor_sleb(c, &constant)))
			return err;
		*elsewhere |= refers_elsewhere(form) || name == DW_AT_GNU_dwo_name || name == DW_AT_dwo_name;
		if (name == 0 && form == 0)
			return xc_budget_spend(i + 1) ? NULL : xc_error_new(XC_ERR_LIMIT, "too much debug information");
	}
	return xc_error_new(XC_ERR_LIMIT, ".debug_abbrev: more than %d attributes", MAX_ATTRIBUTES);
}

static struct xc_error *scan_table(struct xc_cursor c, uint64_t offset, bool *elsewhere, size_t *count)
{
	struct xc_error *err = xc_cursor_skip(&c, (size_t)offset);
	if (xc_cursor_left(&c) > MAX_TABLE)
		c.end = c.at + MAX_TABLE;
	while (!err) {
		uint64_t code, tag, children;
		if ((err = xc_cursor_uleb(&c, &code)) || code == 0)
			break;
		if (!(err = xc_cursor_uleb(&c, &tag)) && !(err = xc_cursor_uint(&c, 1, &children)))
			err = scan_attributes(&c, elsewhere);
		*count += !err;
	}
	return err;
}

enum xc_abbrevs xc_abbrevs_check(Elf *elf, uint64_t offset, size_t *count_out)
{
	bool elsewhere = false;
	size_t count = 0;
	struct xc_error *err = scan_table(xc_section_cursor(elf, ".debug_abbrev"), offset, &elsewhere, &count);
	if (count_out)
		*count_out = count;
	bool hostile = err && err->code == XC_ERR_LIMIT;
	elsewhere |= err != NULL; /* libdw reports what is truncated */
	xc_error_free(err);
	return hostile ? XC_ABBREVS_HOSTILE : elsewhere ? XC_ABBREVS_REFER : XC_ABBREVS_ALONE;
}

uint64_t xc_abbrevs_most(uint64_t bytes, bool opened)
{
	return FREE + (opened ? OPENED : ALL) * bytes;
}

bool xc_abbrevs_take(uint64_t *left, uint64_t amount)
{
	const bool enough = xc_spend(left, amount);
	if (!enough)
		xc_budget_fall_short();
	return enough;
}
