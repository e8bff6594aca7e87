/* split_abbrev: the abbreviations of a split unit, changed for libdw.
 *
 * A split unit leaves out what its skeleton states. libdw looks for it in the unit's first entry, so the entry gets
 * those attributes although no byte can be added to it. Numbers in DW_FORM_implicit_const are part of the
 * declaration. The base address of ranges and lists (DW_AT_low_pc, which libdw accepts only as an address) takes the
 * eight bytes of the id:
 *
 *	DWARF 5   header … id(8) │ code attributes …          the unit becomes a DW_UT_compile, whose header ends
 *	          header … │ code low_pc(8) attributes …        before the id; the code moves to the front
 *	DWARF 4   code … DW_AT_GNU_dwo_id data8 …             becomes low_pc; the id, by which libdw knows that
 *	                                                      .debug_loc has GNU's form, an implicit constant
 *
 * Where addresses have four bytes, four are left over. */
#include <dwarf.h>

#include "core/base/text.h"
#include "dwarf/split/split_image.h"

enum { UNREAD_NAME = 0x3ffe, FILLER_NAME = 0x3ffd }; /* unused attributes of the user range */

static void add_uleb(struct xc_text *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		xc_text_char(out, (char)(value | 0x80));
	xc_text_char(out, (char)value);
}

static void add_sleb(struct xc_text *out, int64_t value)
{
	bool more = true;
	for (; more; value >>= 7) {
		more = !((value >= -64 && value < 64));
		xc_text_char(out, (char)((value & 0x7f) | (more ? 0x80 : 0)));
	}
}

static void add_spec(struct xc_text *out, uint64_t name, uint64_t form)
{
	add_uleb(out, name);
	add_uleb(out, form);
}

static void add_constant(struct xc_text *out, uint64_t name, uint64_t value)
{
	add_spec(out, name, DW_FORM_implicit_const);
	add_sleb(out, (int64_t)value);
}

static void add_bytes(struct xc_text *out, const uint8_t *from, const uint8_t *end)
{
	xc_text_addn(out, (const char *)from, (size_t)(end - from));
}

static void add_low_pc(struct xc_text *out, const struct xc_raw_unit *u)
{
	add_spec(out, DW_AT_low_pc, DW_FORM_addr);
	if (u->address_size == 4)
		add_spec(out, FILLER_NAME, DW_FORM_data4);
}

static void add_bases(struct xc_text *out, const struct xc_raw_unit *u, const struct xc_split_bases *b)
{
	if (b->has_str_offsets)
		add_constant(out, DW_AT_str_offsets_base, b->str_offsets);
	if (b->has_addr)
		add_constant(out, u->version >= 5 ? DW_AT_addr_base : DW_AT_GNU_addr_base, b->addr);
	if (b->has_lists) {
		add_constant(out, DW_AT_loclists_base, b->lists);
		add_constant(out, DW_AT_rnglists_base, b->lists);
	}
}

/* Add the attributes of the declaration. Those by which libdw recognizes a skeleton are renamed. */
static bool add_own(struct xc_text *out, const struct xc_split_member *m, struct xc_raw_abbrev *abbrev,
		    struct xc_cursor entry)
{
	struct xc_raw_attribute a;
	while (xc_raw_attribute_next(&m->unit, &abbrev->attributes, &entry, &a)) {
		if (a.form == DW_FORM_data8 && a.name == DW_AT_GNU_dwo_id && m->unit.version < 5 && m->has_skeleton)
			add_low_pc(out, &m->unit);
		else if (a.name == DW_AT_GNU_dwo_name || a.name == DW_AT_dwo_name)
			add_spec(out, UNREAD_NAME, a.form);
		else
			add_bytes(out, a.spec, abbrev->attributes.at);
	}
	add_spec(out, 0, 0);
	return a.name == 0;
}

/* The end of the table, including its closing zero. */
static bool table_end(struct xc_cursor table, const uint8_t **end_out)
{
	struct xc_raw_abbrev a;
	bool ended;
	while (xc_raw_abbrev_next(&table, &a, &ended))
		;
	*end_out = table.at;
	return ended;
}

bool xc_split_abbrev_add(const struct xc_split_member *m, const struct xc_split_bases *bases, struct xc_text *out)
{
	struct xc_cursor entry = m->piece.info, table = m->piece.sections[XC_SPLIT_ABBREV];
	struct xc_raw_abbrev abbrev;
	const uint8_t *end;
	if (!xc_raw_unit_entry(&m->unit, &entry, &table, &abbrev) || !table_end(table, &end))
		return false;
	const uint8_t *behind = abbrev.attributes.end;
	add_bytes(out, abbrev.begin, abbrev.attributes.at); /* code, tag, children */
	if (m->has_skeleton && m->unit.version >= 5)
		add_low_pc(out, &m->unit); /* its bytes come first */
	else if (m->has_skeleton)
		add_constant(out, DW_AT_GNU_dwo_id, m->id);
	add_bases(out, &m->unit, bases);
	if (!add_own(out, m, &abbrev, entry))
		return false;
	add_bytes(out, table.at, abbrev.begin);
	add_bytes(out, behind, end);
	return true;
}

bool xc_split_abbrev_copy(const struct xc_split_member *m, struct xc_text *out)
{
	struct xc_cursor table = m->piece.sections[XC_SPLIT_ABBREV];
	const uint8_t *end;
	if (m->unit.abbrev > xc_cursor_left(&table))
		return false;
	table.at += m->unit.abbrev;
	if (!table_end(table, &end))
		return false;
	add_bytes(out, table.at, end);
	return true;
}
