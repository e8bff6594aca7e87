/* split_types: the type units that a unit needs. Entries follow one another, so all of them are read without
 * following the tree; a table by code avoids searching for their declarations. */
#include <dwarf.h>
#include <stdlib.h>

#include "dwarf/elf/budget.h"
#include "dwarf/split/split_image.h"

enum { MAX_CODE = 1 << 16, PAID_ENTRIES = 8 };

struct codes {
	struct xc_cursor *attributes; /* by code; `what` is NULL when unset */
	size_t count;
	bool refer;
};

static bool has_signature_form(struct xc_cursor attributes)
{
	/* only the forms matter: no value is used, and damage shows when the entry is read */
	static const struct xc_raw_unit none = {.offset_size = 4, .address_size = 8, .version = 5};
	struct xc_raw_attribute a;
	while (xc_cursor_left(&attributes)) {
		struct xc_cursor nothing = xc_cursor(NULL, 0, "");
		xc_raw_attribute_next(&none, &attributes, &nothing, &a);
		if (a.name == 0 || attributes.at == a.spec)
			break;
		if (a.form == DW_FORM_ref_sig8 || a.form == DW_FORM_indirect)
			return true;
	}
	return false;
}

static bool read_codes(struct codes *codes, struct xc_cursor table)
{
	struct xc_raw_abbrev abbrev;
	bool ended;
	while (xc_raw_abbrev_next(&table, &abbrev, &ended)) {
		if (abbrev.code >= MAX_CODE)
			return false;
		if (abbrev.code >= codes->count) {
			size_t count = (size_t)abbrev.code * 2;
			codes->attributes = xc_realloc(codes->attributes, count * sizeof *codes->attributes);
			for (size_t i = codes->count; i < count; i++)
				codes->attributes[i] = (struct xc_cursor){0};
			codes->count = count;
		}
		if (!codes->attributes[abbrev.code].what) /* the first declaration of a code counts */
			codes->attributes[abbrev.code] = abbrev.attributes;
		codes->refer |= has_signature_form(abbrev.attributes);
	}
	return ended;
}

/* False when the rest of the unit must not be read. */
static bool read_entry(const struct codes *codes, const struct xc_raw_unit *unit, struct xc_cursor *entry,
		       xc_split_signature_fn *each, void *context)
{
	uint64_t code, signature;
	struct xc_raw_attribute a;
	struct xc_error *err = xc_cursor_uleb(entry, &code);
	xc_error_free(err);
	if (err || code >= codes->count || (code && !codes->attributes[code].what))
		return false;
	if (code == 0)
		return true;
	struct xc_cursor attributes = codes->attributes[code];
	while (xc_raw_attribute_next(unit, &attributes, entry, &a))
		if (a.form == DW_FORM_ref_sig8 && xc_raw_number(&a, &signature) && !each(context, signature))
			return false;
	return a.name == 0;
}

void xc_split_signatures(const struct xc_split_piece *piece, const struct xc_raw_unit *unit,
			 xc_split_signature_fn *each, void *context)
{
	struct codes codes = {.attributes = NULL};
	struct xc_cursor entry = piece->info, table = piece->sections[XC_SPLIT_ABBREV];
	if (unit->abbrev <= xc_cursor_left(&table) && unit->first <= xc_cursor_left(&entry)) {
		table.at += unit->abbrev;
		entry.at += unit->first;
		bool more = read_codes(&codes, table) && codes.refer;
		for (size_t i = 0; more && xc_cursor_left(&entry); i++)
			more = (i % PAID_ENTRIES || xc_budget_spend(1)) &&
			       read_entry(&codes, unit, &entry, each, context);
	}
	free(codes.attributes);
}
