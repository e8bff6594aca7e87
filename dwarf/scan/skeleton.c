/* skeleton: the bases may follow the attributes that need them, so attributes are noted first and resolved at the
 * end. */
#include "dwarf/scan/skeleton.h"

#include <dwarf.h>
#include <elf.h>
#include <gelf.h>
#include <string.h>

#include "dwarf/elf/section.h"

/* The attributes noted; form 0: absent. */
struct notes {
	const struct xc_skeleton_sections *from;
	struct xc_raw_unit unit;
	struct xc_raw_attribute name, dir, low_pc, id;
	uint64_t str_base, addr_base, ranges_base;
};

void xc_skeleton_sections(Elf *elf, struct xc_skeleton_sections *s)
{
	GElf_Ehdr header;
	*s = (struct xc_skeleton_sections){
		.info = xc_section_cursor(elf, ".debug_info"),
		.abbrev = xc_section_cursor(elf, ".debug_abbrev"),
		.str = xc_section_cursor(elf, ".debug_str"),
		.line_str = xc_section_cursor(elf, ".debug_line_str"),
		.str_offsets = xc_section_cursor(elf, ".debug_str_offsets"),
		.addr = xc_section_cursor(elf, ".debug_addr"),
		.ranges = xc_section_cursor(elf, ".debug_ranges"),
		.machine = gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE,
	};
}

/* A number of `size` bytes at base + index * size; false when that lies outside the section. */
static bool table_entry(struct xc_cursor table, uint64_t base, uint64_t index, size_t size, uint64_t *number_out)
{
	size_t left = xc_cursor_left(&table);
	if (base > left || left - base < size || index > (left - base) / size - 1)
		return false;
	*number_out = xc_load_uint(table.at + base + index * size, size, false);
	return true;
}

static const char *string_at(struct xc_cursor section, uint64_t offset)
{
	if (offset >= xc_cursor_left(&section) || !memchr(section.at + offset, 0, xc_cursor_left(&section) - offset))
		return NULL;
	return (const char *)section.at + offset;
}

static const char *string_of(const struct notes *n, const struct xc_raw_attribute *a)
{
	uint64_t number;
	switch (a->form) {
	case DW_FORM_string:
		return (const char *)a->value;
	case DW_FORM_strp:
		return xc_raw_number(a, &number) ? string_at(n->from->str, number) : NULL;
	case DW_FORM_line_strp:
		return xc_raw_number(a, &number) ? string_at(n->from->line_str, number) : NULL;
	case DW_FORM_strx:
	case DW_FORM_strx1 ... DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return xc_raw_number(a, &number) && table_entry(n->from->str_offsets, n->str_base, number,
								n->unit.offset_size, &number)
			       ? string_at(n->from->str, number)
			       : NULL;
	default:
		return NULL;
	}
}

static uint64_t address_of(const struct notes *n, const struct xc_raw_attribute *a)
{
	uint64_t number = 0;
	bool indexed = a->form == DW_FORM_addrx || a->form == DW_FORM_GNU_addr_index ||
		       (a->form >= DW_FORM_addrx1 && a->form <= DW_FORM_addrx4);
	if ((!indexed && a->form != DW_FORM_addr) || !xc_raw_number(a, &number))
		return 0;
	if (indexed && !table_entry(n->from->addr, n->addr_base, number, n->unit.address_size, &number))
		return 0;
	return number;
}

static void note(struct notes *n, const struct xc_raw_attribute *a)
{
	switch (a->name) {
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		n->name = *a;
		break;
	case DW_AT_comp_dir:
		n->dir = *a;
		break;
	case DW_AT_low_pc:
		n->low_pc = *a;
		break;
	case DW_AT_GNU_dwo_id:
		n->id = *a;
		break;
	case DW_AT_str_offsets_base:
		xc_raw_number(a, &n->str_base);
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		xc_raw_number(a, &n->addr_base);
		break;
	case DW_AT_GNU_ranges_base:
		xc_raw_number(a, &n->ranges_base);
		break;
	default:
		break;
	}
}

bool xc_skeleton_read(const struct xc_skeleton_sections *s, uint64_t offset, struct xc_skeleton *out,
		      uint64_t *size_out)
{
	struct notes n = {.from = s};
	struct xc_cursor entry = s->info, table = s->abbrev;
	struct xc_raw_abbrev abbrev;
	struct xc_raw_attribute a;
	bool inside = offset <= xc_cursor_left(&entry);
	if (inside)
		entry.at += offset;
	bool known = inside && xc_raw_unit_at(entry, false, &n.unit);
	if (size_out)
		*size_out = n.unit.size;
	bool five = n.unit.version >= 5;
	if (!known || n.unit.type != (five ? DW_UT_skeleton : DW_UT_compile))
		return false;
	n.str_base = five ? 2 * (uint64_t)n.unit.offset_size : 0; /* after the first header */
	if (!xc_raw_unit_entry(&n.unit, &entry, &table, &abbrev) || (!five && abbrev.children))
		return false;
	while (xc_raw_attribute_next(&n.unit, &abbrev.attributes, &entry, &a))
		note(&n, &a);
	const char *name = string_of(&n, &n.name);
	if (!name || (!five && !xc_raw_number(&n.id, &n.unit.id)))
		return false;
	*out = (struct xc_skeleton){.offset = offset,
				    .id = n.unit.id,
				    .low_pc = address_of(&n, &n.low_pc),
				    .addr_base = n.addr_base,
				    .ranges_base = n.ranges_base,
				    .name = name,
				    .dir = string_of(&n, &n.dir),
				    .version = n.unit.version};
	return true;
}
