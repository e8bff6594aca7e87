/* die_scan_fact: attribute values kept as facts of a DIE. */
#include <dwarf.h>

#include "dwarf/scan/die_scan_impl.h"

static bool is_strx(uint64_t form)
{
	return form == DW_FORM_strx || form == DW_FORM_GNU_str_index ||
	       (form >= DW_FORM_strx1 && form <= DW_FORM_strx4);
}

struct xc_die_scan_string xc_die_scan_indexed(const struct xc_die_scan *s, uint64_t index)
{
	const struct xc_cursor *table = &s->space->str_offsets;
	unsigned size = s->unit.offset_size;
	uint64_t left = xc_cursor_left(table), base = s->unit.str_offsets_base;
	if (base > left || index >= (left - base) / size)
		return (struct xc_die_scan_string){0};
	return (struct xc_die_scan_string){XC_DIE_SCAN_STR, xc_die_scan_load(table->at + base + index * size, size)};
}

/* The string of a value that was read by its form; `start`: the start of the value. */
static struct xc_die_scan_string string_of(const struct xc_die_scan *s, uint64_t form, uint64_t value,
					   const uint8_t *start)
{
	if (is_strx(form))
		return xc_die_scan_indexed(s, value);
	switch (form) {
	case DW_FORM_string:
		return (struct xc_die_scan_string){XC_DIE_SCAN_INFO, (uint64_t)(start - s->space->info.at)};
	case DW_FORM_strp:
		return (struct xc_die_scan_string){XC_DIE_SCAN_STR, value};
	case DW_FORM_line_strp:
		return (struct xc_die_scan_string){XC_DIE_SCAN_LINE_STR, value};
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return (struct xc_die_scan_string){XC_DIE_SCAN_ALT_STR, value};
	default:
		return (struct xc_die_scan_string){0};
	}
}

struct reference {
	uint64_t offset; /* in info, or the other file's */
	bool far;        /* of another unit */
	bool alt;        /* of the file that dwz moved common parts to */
};

/* False for forms that cannot be followed here. */
static bool reference_of(const struct xc_die_scan *s, uint64_t form, uint64_t value, struct reference *to)
{
	*to = (struct reference){.offset = value, .far = true};
	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		*to = (struct reference){.offset = s->unit.offset + value};
		return value < s->unit.size;
	case DW_FORM_ref_addr:
		to->far = value < s->unit.offset || value - s->unit.offset >= s->unit.size;
		return true;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		to->alt = true;
		return true;
	default:
		return false;
	}
}

static bool is_plain_number(uint64_t form)
{
	switch (form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
	case DW_FORM_sec_offset:
	case DW_FORM_flag:
		return true;
	default:
		return false;
	}
}

static void keep_number(struct xc_die_scan_entry *die, uint32_t fact, uint64_t *to, uint64_t form, uint64_t value)
{
	if (!is_plain_number(form))
		return;
	die->has |= fact;
	*to = value;
}

static void keep_flag(struct xc_die_scan_entry *die, uint32_t fact, uint64_t value)
{
	if (value)
		die->has |= fact;
}

static void keep_reference(const struct xc_die_scan *s, struct xc_die_scan_entry *die, enum xc_die_scan_slot slot,
			   uint64_t form, uint64_t value)
{
	struct reference to;
	if (!reference_of(s, form, value, &to))
		return;
	if (slot == XC_DIE_SLOT_ORIGIN) {
		die->has |= !to.far  ? XC_DIE_SCAN_ORIGIN
			    : to.alt ? XC_DIE_SCAN_FAR_ORIGIN | XC_DIE_SCAN_ALT_ORIGIN
				     : XC_DIE_SCAN_FAR_ORIGIN;
		die->origin = to.offset;
	} else if (!to.far) {
		die->has |= slot == XC_DIE_SLOT_TYPE ? XC_DIE_SCAN_TYPE : XC_DIE_SCAN_SIBLING;
		*(slot == XC_DIE_SLOT_TYPE ? &die->type : &die->sibling) = to.offset;
	}
}

/* The expression follows the length of the block, which has one byte when the expression is no more than an address. */
static void keep_location(const struct xc_die_scan *s, struct xc_die_scan_entry *die, const uint8_t *start)
{
	if (s->at - start < 2 || (start[0] & 0x80))
		return;
	die->has |= start[1] == DW_OP_addr || start[1] == DW_OP_addrx || start[1] == DW_OP_GNU_addr_index
			    ? XC_DIE_SCAN_PLACED
			    : 0;
}

void xc_die_scan_keep(const struct xc_die_scan *s, struct xc_die_scan_entry *die, enum xc_die_scan_slot slot,
		      uint64_t form, uint64_t value, const uint8_t *start)
{
	switch (slot) {
	case XC_DIE_SLOT_NAME:
		die->name = string_of(s, form, value, start);
		die->has |= die->name.where ? XC_DIE_SCAN_NAME : 0;
		break;
	case XC_DIE_SLOT_LINKAGE_NAME:
		die->linkage_name = string_of(s, form, value, start);
		die->has |= die->linkage_name.where ? XC_DIE_SCAN_LINKAGE_NAME : 0;
		break;
	case XC_DIE_SLOT_SIBLING:
	case XC_DIE_SLOT_ORIGIN:
	case XC_DIE_SLOT_TYPE:
		keep_reference(s, die, slot, form, value);
		break;
	case XC_DIE_SLOT_SIZE:
		keep_number(die, XC_DIE_SCAN_SIZE, &die->size, form, value);
		break;
	case XC_DIE_SLOT_LINE:
		keep_number(die, XC_DIE_SCAN_LINE, &die->line, form, value);
		break;
	case XC_DIE_SLOT_VALUE:
		die->has |= XC_DIE_SCAN_VALUE;
		die->value = value;
		break;
	case XC_DIE_SLOT_EXTERNAL:
		keep_flag(die, XC_DIE_SCAN_EXTERNAL, value);
		break;
	case XC_DIE_SLOT_DECLARATION:
		keep_flag(die, XC_DIE_SCAN_DECLARATION, value);
		break;
	case XC_DIE_SLOT_EXPORTS:
		keep_flag(die, XC_DIE_SCAN_EXPORTS, value);
		break;
	case XC_DIE_SLOT_ENUM_CLASS:
		keep_flag(die, XC_DIE_SCAN_ENUM_CLASS, value);
		break;
	case XC_DIE_SLOT_STR_OFFSETS:
		keep_number(die, XC_DIE_SCAN_STR_OFFSETS, &die->str_offsets, form, value);
		break;
	case XC_DIE_SLOT_MACROS:
		keep_number(die, XC_DIE_SCAN_MACROS, &die->macros, form, value);
		break;
	case XC_DIE_SLOT_LOCATION:
		keep_location(s, die, start);
		break;
	case XC_DIE_SLOT_LANGUAGE:
		keep_number(die, XC_DIE_SCAN_LANGUAGE, &die->language, form, value);
		break;
	default:
		break;
	}
}
