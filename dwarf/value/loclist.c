/* loclist: the expression of an attribute (xc_expr_of in expr.h): its own, or the entry of a location list for an
 * address.
 *
 *	.debug_loc        pairs of addresses; (0, 0) is the end, (-1, x) a base address        DWARF 4, 2.6.2
 *	.debug_loclists   kinds with operands; at an offset, or by an index into offsets        DWARF 5, 7.7.3 and 7.29
 *	.debug_loc.dwo    GNU's own kinds: indexes of addresses, lengths of four bytes          gcc wiki "DebugFission"
 *
 * libdw is not used: version 0.188 does not know DW_LLE_GNU_view_pair, takes a leading default location for one that is
 * valid everywhere, and does not report the length of a list. Thousands of variables may share a list of a hundred
 * thousand entries, so each entry costs budget. */
#include <dwarf.h>
#include <string.h>

#include "core/base/cursor.h"
#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"
#include "dwarf/module/exprcode.h"
#include "dwarf/value/expr_impl.h"
#include "dwarf/elf/section.h"

enum { LLE_VIEW_PAIR = 9 }; /* DW_LLE_GNU_view_pair: gcc, include/dwarf2.h */

/* The bases that the lists of a unit refer to; computed once. */
struct unit_lists {
	struct xc_cursor section, addresses;
	uint64_t addr_base, low_pc, lists_base;
	unsigned version, address_size, offset_size;
	bool split4; /* GNU's .debug_loc.dwo */
};

struct bytes {
	const uint8_t *at;
	size_t size;
	bool found;
};

/* A walk along a list, for two addresses at once. */
struct walk {
	const struct unit_lists *unit;
	struct xc_cursor c;
	uint64_t base;
	uint64_t addr, behind;   /* the next byte, or the first one after the call that ends there */
	struct bytes here, next; /* the expressions for the two addresses */
	struct bytes otherwise;  /* the default location */
	bool ended;
};

/* ---- units ---- */

static uint64_t unit_number(Dwarf_Die *unit, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;
	return dwarf_attr(unit, name, &attr) && dwarf_formudata(&attr, &number) == 0 ? number : otherwise;
}

static uint64_t low_pc_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	Dwarf_Addr low;
	if (dwarf_lowpc(unit, &low) == 0 ||
	    (dwarf_attr(unit, DW_AT_entry_pc, &attr) && dwarf_formaddr(&attr, &low) == 0))
		return low;
	return 0;
}

static void read_unit(struct unit_lists *u, Dwarf_CU *cu)
{
	Dwarf_Die die;
	Dwarf_Half version = 0;
	uint8_t type = 0, address = 8, offset = 4;
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(cu));
	if (dwarf_cu_info(cu, &version, &type, &die, NULL, NULL, &address, &offset) != 0)
		return;
	u->version = version;
	u->address_size = address;
	u->offset_size = offset;
	u->split4 = version < 5 && type == DW_UT_split_compile;
	u->section = xc_section_cursor(elf, version >= 5 ? ".debug_loclists" : ".debug_loc");
	u->addresses = xc_section_cursor(elf, ".debug_addr");
	u->addr_base = unit_number(&die, DW_AT_addr_base, unit_number(&die, DW_AT_GNU_addr_base, 0));
	u->lists_base = unit_number(&die, DW_AT_loclists_base, 4 + 2 * (uint64_t)offset); /* after the first header */
	u->low_pc = low_pc_of(&die);
}

static const struct unit_lists *lists_of(struct xc_types *types, Dwarf_CU *cu)
{
	struct unit_lists *u = *xc_pointer_map_at(&types->lists, types->arena, cu, NULL);
	if (!u) {
		u = xc_arena_alloc(types->arena, sizeof *u);
		read_unit(u, cu);
		*xc_pointer_map_at(&types->lists, types->arena, cu, NULL) = u;
	}
	return u;
}

/* ---- entries ---- */

static struct xc_error *take_address(struct walk *w, uint64_t *addr)
{
	return xc_cursor_uint(&w->c, w->unit->address_size, addr);
}

static bool address_at(const struct unit_lists *u, uint64_t index, uint64_t *addr)
{
	size_t left = xc_cursor_left(&u->addresses), size = u->address_size;
	if (u->addr_base > left || index >= (left - u->addr_base) / size)
		return false;
	*addr = xc_load_uint(u->addresses.at + u->addr_base + index * size, size, false);
	return true;
}

static struct xc_error *take_indexed(struct walk *w, uint64_t *addr)
{
	uint64_t index;
	struct xc_error *err = xc_cursor_uleb(&w->c, &index);
	if (!err && !address_at(w->unit, index, addr))
		err = xc_error_new(XC_ERR_FORMAT, ".debug_addr: no entry %llu", (unsigned long long)index);
	return err;
}

bool xc_expr_indexed(struct xc_types *types, Dwarf_CU *unit, uint64_t index, uint64_t *value_out)
{
	const struct unit_lists *u = lists_of(types, unit);
	return u->address_size > 0 && address_at(u, index, value_out);
}

/* Take the expression of the entry for [lo, end). Its length has `width` bytes; 0: a ULEB128. */
static struct xc_error *take_expression(struct walk *w, uint64_t lo, uint64_t end, size_t width)
{
	uint64_t size;
	const void *bytes = NULL;
	struct xc_error *err = width ? xc_cursor_uint(&w->c, width, &size) : xc_cursor_uleb(&w->c, &size);
	if (err || (err = xc_cursor_take(&w->c, (size_t)size, &bytes)))
		return err;
	struct bytes taken = {.at = bytes, .size = (size_t)size, .found = true};
	if (!w->here.found && lo <= w->addr && w->addr < end)
		w->here = taken;
	if (!w->next.found && lo <= w->behind && w->behind < end)
		w->next = taken;
	return NULL;
}

static uint64_t cut(const struct walk *w, uint64_t addr)
{
	return w->unit->address_size == 4 ? addr & UINT32_MAX : addr;
}

static struct xc_error *take_pair5(struct walk *w, unsigned kind)
{
	uint64_t a, b;
	struct xc_error *err = kind == DW_LLE_startx_endx || kind == DW_LLE_startx_length ? take_indexed(w, &a)
			       : kind == DW_LLE_offset_pair                               ? xc_cursor_uleb(&w->c, &a)
											  : take_address(w, &a);
	if (err)
		return err;
	err = kind == DW_LLE_startx_endx ? take_indexed(w, &b)
	      : kind == DW_LLE_start_end ? take_address(w, &b)
					 : xc_cursor_uleb(&w->c, &b);
	if (err)
		return err;
	if (kind == DW_LLE_offset_pair)
		return take_expression(w, cut(w, w->base + a), cut(w, w->base + b), 0);
	bool length = kind == DW_LLE_startx_length || kind == DW_LLE_start_length;
	return take_expression(w, a, length ? cut(w, a + b) : b, 0);
}

static struct xc_error *take_default(struct walk *w)
{
	struct bytes here = w->here, next = w->next;
	w->here = w->next = (struct bytes){0};
	struct xc_error *err = take_expression(w, 0, UINT64_MAX, 0);
	if (!w->otherwise.found)
		w->otherwise = w->here;
	w->here = here;
	w->next = next;
	return err;
}

static struct xc_error *take_entry5(struct walk *w)
{
	uint64_t kind, ignored;
	struct xc_error *err = xc_cursor_uint(&w->c, 1, &kind);
	if (err)
		return err;
	switch (kind) {
	case DW_LLE_end_of_list:
		w->ended = true;
		return NULL;
	case DW_LLE_base_addressx:
		return take_indexed(w, &w->base);
	case DW_LLE_base_address:
		return take_address(w, &w->base);
	case LLE_VIEW_PAIR:
		err = xc_cursor_uleb(&w->c, &ignored);
		return err ? err : xc_cursor_uleb(&w->c, &ignored);
	case DW_LLE_default_location:
		return take_default(w);
	case DW_LLE_startx_endx:
	case DW_LLE_startx_length:
	case DW_LLE_offset_pair:
	case DW_LLE_start_end:
	case DW_LLE_start_length:
		return take_pair5(w, (unsigned)kind);
	default:
		return xc_error_new(XC_ERR_UNSUPPORTED, ".debug_loclists: an entry of kind %u", (unsigned)kind);
	}
}

static struct xc_error *take_entry4(struct walk *w)
{
	uint64_t lo, end;
	struct xc_error *err;
	if ((err = take_address(w, &lo)) || (err = take_address(w, &end)))
		return err;
	w->ended = lo == 0 && end == 0;
	if (w->ended)
		return NULL;
	if (lo == cut(w, UINT64_MAX)) {
		w->base = end;
		return NULL;
	}
	return take_expression(w, cut(w, w->base + lo), cut(w, w->base + end), 2);
}

static struct xc_error *take_entry_split4(struct walk *w)
{
	uint64_t kind, lo, end;
	struct xc_error *err = xc_cursor_uint(&w->c, 1, &kind);
	if (err)
		return err;
	switch (kind) {
	case DW_LLE_GNU_end_of_list_entry:
		w->ended = true;
		return NULL;
	case DW_LLE_GNU_base_address_selection_entry:
		return take_indexed(w, &w->base);
	case DW_LLE_GNU_start_end_entry:
		if ((err = take_indexed(w, &lo)) || (err = take_indexed(w, &end)))
			return err;
		return take_expression(w, lo, end, 2);
	case DW_LLE_GNU_start_length_entry:
		if ((err = take_indexed(w, &lo)) || (err = xc_cursor_uint(&w->c, 4, &end)))
			return err;
		return take_expression(w, lo, cut(w, lo + end), 2);
	default:
		return xc_error_new(XC_ERR_UNSUPPORTED, ".debug_loc: an entry of kind %u", (unsigned)kind);
	}
}

/* Walk until both expressions are known. Entries before the damage in a list are kept. */
static void follow(struct walk *w)
{
	struct xc_error *err = NULL;
	while (!err && !w->ended && !(w->here.found && w->next.found)) {
		err = w->unit->split4 ? take_entry_split4(w) : w->unit->version >= 5 ? take_entry5(w) : take_entry4(w);
		if (!xc_budget_spend(1)) { /* a partial answer would depend on the budget */
			w->here = w->next = w->otherwise = (struct bytes){0};
			break;
		}
	}
	xc_error_free(err);
	if (!w->here.found)
		w->here = w->otherwise;
	if (!w->next.found)
		w->next = w->otherwise;
}

/* ---- the start of a list ---- */

static bool indexed_offset(const struct unit_lists *u, Dwarf_Attribute *attr, uint64_t *offset)
{
	struct xc_cursor info = xc_section_cursor(dwarf_getelf(dwarf_cu_getdwarf(attr->cu)), ".debug_info");
	size_t left = xc_cursor_left(&u->section), size = u->offset_size;
	uint64_t index;
	if (attr->valp < info.at || attr->valp >= info.end)
		return false;
	info.at = attr->valp;
	struct xc_error *err = xc_cursor_uleb(&info, &index);
	xc_error_free(err);
	if (err || u->lists_base > left || index >= (left - u->lists_base) / size)
		return false;
	*offset = u->lists_base + xc_load_uint(u->section.at + u->lists_base + index * size, size, false);
	return true;
}

/* A cursor at the list; false when the attribute does not refer to one. */
static bool find_list(const struct unit_lists *u, Dwarf_Attribute *attr, struct xc_cursor *c)
{
	Dwarf_Word offset = 0;
	unsigned form = dwarf_whatform(attr);
	bool plain = form == DW_FORM_sec_offset ||
		     (u->version < 4 && (form == DW_FORM_data4 || form == DW_FORM_data8)); /* later: constants */
	if (form == DW_FORM_loclistx ? !indexed_offset(u, attr, &offset)
				     : !plain || dwarf_formudata(attr, &offset) != 0)
		return false;
	*c = u->section;
	if (offset >= xc_cursor_left(c))
		return false;
	c->at += offset;
	return true;
}

/* ---- expressions ---- */

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

static bool of_list(struct xc_types *types, Dwarf_Attribute *attr, uint64_t file_addr, struct xc_expr *out)
{
	const struct unit_lists *u = lists_of(types, attr->cu);
	struct walk w = {.unit = u,
			 .base = u->low_pc,
			 .addr = file_addr,
			 .behind = file_addr + 1 + xc_die_behind_call(attr->cu)};
	struct xc_exprcode code;
	if (!find_list(u, attr, &w.c))
		return false;
	follow(&w);
	if (!w.here.found || !xc_exprcode_read(&types->codes, attr->cu, w.here.at, w.here.size, &code) ||
	    code.count == 0)
		return false;
	*out = (struct xc_expr){.ops = code.ops, .count = code.count, .size = code.size, .attr = *attr};
	if (w.next.found && xc_exprcode_read(&types->codes, attr->cu, w.next.at, w.next.size, &code) && code.count) {
		out->next_ops = code.ops;
		out->next_count = code.count;
		out->survives_call = same_ops(out, code.ops, code.count);
	}
	return true;
}

bool xc_expr_of(struct xc_types *types, Dwarf_Attribute *attr, uint64_t file_addr, struct xc_expr *expr_out)
{
	Dwarf_Block block;
	struct xc_exprcode code;
	if (dwarf_whatform(attr) == DW_FORM_data16 || dwarf_formblock(attr, &block) != 0)
		return of_list(types, attr, file_addr, expr_out);
	if (!xc_exprcode_read(&types->codes, attr->cu, block.data, block.length, &code) || code.count == 0)
		return false;
	*expr_out = (struct xc_expr){.ops = code.ops, .count = code.count, .size = code.size, .attr = *attr};
	return true;
}
