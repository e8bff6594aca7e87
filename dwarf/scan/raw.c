/* raw: DWARF 5, 7.5.1 (units), 7.5.3 (abbreviations), 7.5.5 and 7.5.6 (forms); .debug_types: DWARF 4, 7.5.1.2. GNU's
 * forms: include/dwarf2.def of gcc 12. */
#include "dwarf/scan/raw.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/elf/budget.h"
#include "dwarf/elf/take.h"

enum { MAX_ATTRIBUTES = 1 << 10 };

static bool skip(struct xc_cursor *c, uint64_t len)
{
	if (len > xc_cursor_left(c))
		return false;
	c->at += len;
	return true;
}

/* ---- units ---- */

static bool take_length(struct xc_cursor *c, struct xc_raw_unit *u)
{
	uint64_t length;
	const uint8_t *start = c->at;
	u->offset_size = 4;
	if (!xc_take_uint(c, 4, &length))
		return false;
	if (length == 0xffffffff) {
		u->offset_size = 8;
		if (!xc_take_uint(c, 8, &length))
			return false;
	}
	if (length > xc_cursor_left(c))
		return false;
	u->size = length + (uint64_t)(c->at - start);
	c->end = c->at + length;
	return true;
}

static bool has_id(const struct xc_raw_unit *u)
{
	return u->type == DW_UT_skeleton || u->type == DW_UT_split_compile || u->type == DW_UT_type ||
	       u->type == DW_UT_split_type;
}

static bool is_type(const struct xc_raw_unit *u)
{
	return u->type == DW_UT_type || u->type == DW_UT_split_type;
}

bool xc_raw_unit_at(struct xc_cursor info, bool types, struct xc_raw_unit *u)
{
	uint64_t version, type = types ? DW_UT_type : DW_UT_compile, address = 0;
	const uint8_t *start = info.at;
	*u = (struct xc_raw_unit){0};
	if (!take_length(&info, u) || !xc_take_uint(&info, 2, &version) || version < 2 || version > 5)
		return false;
	if (version >= 5 && (!xc_take_uint(&info, 1, &type) || !xc_take_uint(&info, 1, &address)))
		return false;
	u->abbrev_at = (uint32_t)(info.at - start);
	if (!xc_take_uint(&info, u->offset_size, &u->abbrev) || (version < 5 && !xc_take_uint(&info, 1, &address)))
		return false;
	u->version = (uint8_t)version;
	u->type = (uint8_t)type;
	u->address_size = (uint8_t)address;
	if ((has_id(u) && !xc_take_uint(&info, 8, &u->id)) ||
	    (is_type(u) && !xc_take_uint(&info, u->offset_size, &u->type_offset)))
		return false;
	u->first = (uint32_t)(info.at - start);
	return address == 4 || address == 8;
}

/* ---- abbreviations ---- */

static bool take_spec(struct xc_cursor *c, uint64_t *name, uint64_t *form, int64_t *constant)
{
	*constant = 0;
	return xc_take_uleb(c, name) && xc_take_uleb(c, form) &&
	       (*form != DW_FORM_implicit_const || xc_take_sleb(c, constant));
}

static bool skip_specs(struct xc_cursor *c)
{
	uint64_t name = 1, form = 1;
	int64_t constant;
	for (size_t i = 0; name || form; i++)
		if (i > MAX_ATTRIBUTES || !take_spec(c, &name, &form, &constant))
			return false;
	return true;
}

bool xc_raw_abbrev_next(struct xc_cursor *table, struct xc_raw_abbrev *a, bool *ended)
{
	uint64_t children;
	*ended = false;
	*a = (struct xc_raw_abbrev){.begin = table->at};
	if (!xc_budget_spend(1) || !xc_take_uleb(table, &a->code))
		return false;
	*ended = a->code == 0;
	if (*ended || !xc_take_uleb(table, &a->tag) || !xc_take_uint(table, 1, &children))
		return false;
	a->children = children != 0;
	a->attributes = *table;
	if (!skip_specs(table))
		return false;
	a->attributes.end = table->at;
	return true;
}

bool xc_raw_abbrev_of(struct xc_cursor table, uint64_t code, struct xc_raw_abbrev *a)
{
	bool ended;
	while (xc_raw_abbrev_next(&table, a, &ended))
		if (a->code == code)
			return true;
	return false;
}

/* ---- entries ---- */

static bool skip_block(struct xc_cursor *c, size_t length_size)
{
	uint64_t length;
	return (length_size ? xc_take_uint(c, length_size, &length) : xc_take_uleb(c, &length)) && skip(c, length);
}

static bool skip_string(struct xc_cursor *c)
{
	const uint8_t *nul = memchr(c->at, 0, xc_cursor_left(c));
	return nul && skip(c, (uint64_t)(nul - c->at) + 1);
}

int xc_raw_form_size(uint64_t form, unsigned version, unsigned address_size, unsigned offset_size)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return (int)address_size;
	case DW_FORM_ref_addr:
		return (int)(version < 3 ? address_size : offset_size);
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return (int)offset_size;
	default:
		return -1;
	}
}

static bool skip_value(const struct xc_raw_unit *u, uint64_t form, struct xc_cursor *c)
{
	uint64_t ignored;
	int size = xc_raw_form_size(form, u->version, u->address_size, u->offset_size);
	if (size >= 0)
		return skip(c, (uint64_t)size);
	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_sdata: /* as long as if it were unsigned; padding may exceed 64 bits */
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		for (ignored = 0x80; ignored & 0x80;)
			if (!xc_take_uint(c, 1, &ignored))
				return false;
		return true;
	case DW_FORM_block1:
		return skip_block(c, 1);
	case DW_FORM_block2:
		return skip_block(c, 2);
	case DW_FORM_block4:
		return skip_block(c, 4);
	case DW_FORM_block:
	case DW_FORM_exprloc:
		return skip_block(c, 0);
	case DW_FORM_string:
		return skip_string(c);
	default:
		return false;
	}
}

bool xc_raw_attribute_next(const struct xc_raw_unit *u, struct xc_cursor *attributes, struct xc_cursor *entry,
			   struct xc_raw_attribute *a)
{
	uint64_t name;
	*a = (struct xc_raw_attribute){.name = XC_RAW_DAMAGED, .spec = attributes->at};
	if (!take_spec(attributes, &name, &a->form, &a->constant))
		return false;
	if (name == 0 && a->form == 0) {
		a->name = 0;
		return false;
	}
	if (a->form == DW_FORM_indirect && (!xc_take_uleb(entry, &a->form) || a->form == DW_FORM_indirect))
		return false;
	a->value = entry->at;
	if (!skip_value(u, a->form, entry))
		return false;
	a->size = (size_t)(entry->at - a->value);
	a->name = name;
	return true;
}

bool xc_raw_unit_entry(const struct xc_raw_unit *u, struct xc_cursor *entry, struct xc_cursor *table,
		       struct xc_raw_abbrev *abbrev_out)
{
	uint64_t code;
	if (u->size > xc_cursor_left(entry))
		return false;
	entry->end = entry->at + u->size;
	return skip(entry, u->first) && xc_take_uleb(entry, &code) && code && skip(table, u->abbrev) &&
	       xc_raw_abbrev_of(*table, code, abbrev_out);
}

bool xc_raw_number(const struct xc_raw_attribute *a, uint64_t *number_out)
{
	struct xc_cursor value = xc_cursor(a->value, a->size, "an attribute");
	int64_t number;
	switch (a->form) {
	case DW_FORM_implicit_const:
		*number_out = (uint64_t)a->constant;
		return true;
	case DW_FORM_sdata:
		if (!xc_take_sleb(&value, &number))
			return false;
		*number_out = (uint64_t)number;
		return true;
	case DW_FORM_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return xc_take_uleb(&value, number_out);
	case DW_FORM_flag_present:
		*number_out = 1;
		return true;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_flag:
	case DW_FORM_addr:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strx1 ... DW_FORM_addrx4:
	case DW_FORM_ref_sig8:
		return a->size > 0 && xc_take_uint(&value, a->size, number_out);
	default:
		return false;
	}
}
