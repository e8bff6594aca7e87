/* loclist: the expression of an attribute (xc_expr_of in expr.h): its own, or one of a list. libdw looks through the list; how
 * long it is, is counted first. .debug_loc: DWARF 4, 2.6.2; .debug_loclists: DWARF 5, 7.7.3 and, for where the list of an
 * index stands, 7.29. */
#include <dwarf.h>

#include "../core/cursor.h"
#include "die.h"
#include "expr.h"
#include "section.h"

enum { LLE_VIEW_PAIR = 9, HEADER_32 = 12 }; /* DW_LLE_GNU_view_pair: gcc, include/dwarf2.h */

struct list {
	struct xc_cursor at;
	size_t address_size, offset_size;
};

static struct xc_error *skip_expression(struct xc_cursor *c, struct xc_error *err)
{
	uint64_t size;
	if (err || (err = xc_cursor_uleb(c, &size)))
		return err;
	return xc_cursor_skip(c, (size_t)size);
}

static struct xc_error *skip_ulebs(struct xc_cursor *c, unsigned count)
{
	uint64_t ignored;
	struct xc_error *err = NULL;
	for (; !err && count > 0; count--)
		err = xc_cursor_uleb(c, &ignored);
	return err;
}

static struct xc_error *skip_start_length(struct list *l)
{
	struct xc_error *err = xc_cursor_skip(&l->at, l->address_size);
	return err ? err : skip_ulebs(&l->at, 1);
}

/* An entry of .debug_loclists. */
static struct xc_error *skip_entry5(struct list *l, bool *end)
{
	uint64_t kind;
	struct xc_error *err = xc_cursor_uint(&l->at, 1, &kind);
	if (err)
		return err;
	switch (kind) {
	case DW_LLE_base_addressx:
		return skip_ulebs(&l->at, 1);
	case LLE_VIEW_PAIR:
		return skip_ulebs(&l->at, 2);
	case DW_LLE_base_address:
		return xc_cursor_skip(&l->at, l->address_size);
	case DW_LLE_startx_endx:
	case DW_LLE_startx_length:
	case DW_LLE_offset_pair:
		return skip_expression(&l->at, skip_ulebs(&l->at, 2));
	case DW_LLE_default_location:
		return skip_expression(&l->at, NULL);
	case DW_LLE_start_end:
		return skip_expression(&l->at, xc_cursor_skip(&l->at, 2 * l->address_size));
	case DW_LLE_start_length:
		return skip_expression(&l->at, skip_start_length(l));
	default: /* the end, or what libdw does not know either */
		*end = true;
		return NULL;
	}
}

/* A pair of addresses in .debug_loc: (0, 0) is the end, (-1, x) a base address, anything else has an expression. */
static struct xc_error *skip_entry4(struct list *l, bool *end)
{
	uint64_t lo, hi, size;
	struct xc_error *err;
	if ((err = xc_cursor_uint(&l->at, l->address_size, &lo)) ||
	    (err = xc_cursor_uint(&l->at, l->address_size, &hi)))
		return err;
	*end = lo == 0 && hi == 0;
	if (*end || lo == (l->address_size == 8 ? UINT64_MAX : UINT32_MAX))
		return NULL;
	if ((err = xc_cursor_uint(&l->at, 2, &size)))
		return err;
	return xc_cursor_skip(&l->at, (size_t)size);
}

/* An entry of a split unit of DWARF 4: addresses are indexes, lengths and offsets have four bytes (gcc wiki "DebugFission",
 * "Location lists"; elfutils 0.188, libdw/dwarf.h). */
static struct xc_error *skip_entry_split4(struct list *l, bool *end)
{
	uint64_t kind, size;
	struct xc_error *err = xc_cursor_uint(&l->at, 1, &kind);
	if (err)
		return err;
	switch (kind) {
	case DW_LLE_GNU_base_address_selection_entry:
		return skip_ulebs(&l->at, 1);
	case DW_LLE_GNU_start_end_entry:
		err = skip_ulebs(&l->at, 2);
		break;
	case DW_LLE_GNU_start_length_entry:
		if (!(err = skip_ulebs(&l->at, 1)))
			err = xc_cursor_skip(&l->at, 4);
		break;
	default: /* the end, or what libdw does not know either */
		*end = true;
		return NULL;
	}
	if (err || (err = xc_cursor_uint(&l->at, 2, &size)))
		return err;
	return xc_cursor_skip(&l->at, (size_t)size);
}

/* The offset in .debug_loclists behind an index: in a table at the unit's DW_AT_loclists_base. */
static bool indexed_offset(Dwarf_Attribute *attr, const struct list *l, Dwarf_Die *unit, uint64_t *offset)
{
	Dwarf_Attribute own;
	Dwarf_Word base = HEADER_32, index;
	struct xc_cursor c = xc_section_cursor(dwarf_getelf(dwarf_cu_getdwarf(attr->cu)), ".debug_info");
	if (attr->valp < c.at || attr->valp >= c.end)
		return false;
	c.at = attr->valp;
	struct xc_error *err = xc_cursor_uleb(&c, &index);
	if (dwarf_attr(unit, DW_AT_loclists_base, &own))
		dwarf_formudata(&own, &base);
	c = l->at;
	if (!err && index > xc_cursor_left(&c) / l->offset_size)
		err = xc_error_new(XC_ERR_FORMAT, "index");
	if (!err && !(err = xc_cursor_skip(&c, (size_t)base)) &&
	    !(err = xc_cursor_skip(&c, (size_t)index * l->offset_size)))
		err = xc_cursor_uint(&c, l->offset_size, offset);
	*offset += base;
	bool good = !err;
	xc_error_free(err);
	return good;
}

/* A cursor at the list; false when it is none, or stands where we cannot tell: libdw will say what is wrong with it. */
static bool find_list(Dwarf_Attribute *attr, bool version5, Dwarf_Die *unit, struct list *l)
{
	Dwarf_Word offset = 0;
	l->at = xc_section_cursor(dwarf_getelf(dwarf_cu_getdwarf(attr->cu)),
				  version5 ? ".debug_loclists" : ".debug_loc");
	if (attr->form == DW_FORM_loclistx ? !indexed_offset(attr, l, unit, &offset)
					   : dwarf_formudata(attr, &offset) != 0)
		return false;
	struct xc_error *err = xc_cursor_skip(&l->at, (size_t)offset);
	bool good = !err;
	xc_error_free(err);
	return good;
}

static bool is_list(Dwarf_Attribute *attr)
{
	unsigned form = dwarf_whatform(attr);
	return form == DW_FORM_sec_offset || form == DW_FORM_loclistx || form == DW_FORM_data4 || form == DW_FORM_data8;
}

/* Burn fuel for every entry of the list that an attribute refers to, none for one that is an expression. False when there was
 * not enough: thousands of variables may share a list of a hundred thousand entries. */
static bool affordable(Dwarf_Attribute *attr)
{
	Dwarf_Die unit;
	Dwarf_Half version;
	uint8_t address, offset;
	uint8_t type = 0;
	struct list l;
	bool end = false, paid = true;
	if (!is_list(attr))
		return true;
	if (dwarf_cu_die(attr->cu, &unit, &version, NULL, &address, &offset, NULL, NULL) == NULL)
		return true;
	dwarf_cu_info(attr->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL);
	l.address_size = address;
	l.offset_size = offset;
	struct xc_error *err = NULL;
	for (bool list = find_list(attr, version >= 5, &unit, &l); list && !err && !end && paid;) {
		err = version >= 5                  ? skip_entry5(&l, &end)
		      : type == DW_UT_split_compile ? skip_entry_split4(&l, &end)
						    : skip_entry4(&l, &end);
		paid = xc_die_burn(1);
	}
	xc_error_free(err);
	return paid;
}

static bool same_ops(const struct xc_expr *expr, const Dwarf_Op *ops, size_t count)
{
	if (expr->count != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *a = &expr->ops[i], *b = &ops[i];
		if (a->atom != b->atom || a->number != b->number || a->number2 != b->number2)
			return false;
	}
	return true;
}

bool xc_expr_of(Dwarf_Attribute *attr, uint64_t file_addr, struct xc_expr *expr_out)
{
	Dwarf_Op *ops;
	size_t count;
	if (!affordable(attr) || dwarf_getlocation_addr(attr, file_addr, &ops, &count, 1) != 1)
		return false;
	*expr_out = (struct xc_expr){.ops = ops, .count = count, .attr = *attr};
	if (is_list(attr) &&
	    dwarf_getlocation_addr(attr, file_addr + 1 + xc_die_behind_call(attr->cu), &ops, &count, 1) == 1) {
		expr_out->next_ops = ops;
		expr_out->next_count = count;
		expr_out->lasts = same_ops(expr_out, ops, count);
	}
	return true;
}
