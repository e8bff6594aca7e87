/* die: wrappers over libdw.
 *
 * libdw follows DW_AT_sibling wherever it points. The DIEs of a unit are in memory in file order, so a step that does
 * not lead to a higher address means a damaged or hostile file, and ends the walk. Every step spends from the budget
 * (budget.h).
 *
 * Work inside one call of libdw 0.188 cannot be limited, and a hostile file can still make it slow (not wrong): a
 * list made of base addresses alone, abbreviations of dwz's common file (unit.c checks those of the file itself). */
#include "dwarf/module/die.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "core/base/arena.h"
#include "dwarf/elf/budget.h"
#include "dwarf/elf/section.h"
#include "dwarf/module/walk.h"

enum { FREE_STEP = 256, WALKED_BYTES = 16, MAX_LINKS = 16 };

/* Without DW_AT_sibling libdw reads everything in between. */
static uint64_t price(Dwarf_Die *from, const Dwarf_Die *to)
{
	size_t bytes = to->addr > from->addr ? (size_t)((const char *)to->addr - (const char *)from->addr) : 0;
	return bytes <= FREE_STEP || dwarf_hasattr(from, DW_AT_sibling) ? 1 : bytes / WALKED_BYTES;
}

bool xc_die_child(Dwarf_Die *die, Dwarf_Die *child_out)
{
	Dwarf_Die child;
	if (!xc_budget_spend(1) || dwarf_child(die, &child) != 0)
		return false;
	*child_out = child;
	return true;
}

bool xc_die_next(Dwarf_Die *die)
{
	Dwarf_Die next = {.addr = NULL};
	enum xc_walk walked = xc_walk_next(die, &next);
	int result = walked == XC_WALK_DONE ? 0 : walked == XC_WALK_END ? 1 : dwarf_siblingof(die, &next); /* 1: none */
	if (!xc_budget_spend(result < 0 ? 1 : price(die, &next)) || result != 0 || next.addr <= die->addr)
		return false;
	*die = next;
	return true;
}

int xc_die_tag(Dwarf_Die *die)
{
	int tag;
	bool children;
	return xc_walk_peek(die, &tag, &children) ? tag : dwarf_tag(die);
}

bool xc_die_has_children(Dwarf_Die *die)
{
	int tag;
	bool children;
	return xc_walk_peek(die, &tag, &children) ? children : dwarf_haschildren(die) == 1;
}

/* libdw 0.188 looks for the entry of DW_FORM_ref_sup4 and ref_sup8 in the file itself. These forms have fixed widths,
 * independent of the unit's offset size: unlike GNU's form. */
static bool follow_supplementary(Dwarf_Attribute *attr, size_t size, Dwarf_Die *to_out)
{
	uint64_t offset = 0;
	Dwarf *own = dwarf_cu_getdwarf(attr->cu), *alternate = dwarf_getalt(own);
	struct xc_cursor c = xc_section_cursor(dwarf_getelf(own), ".debug_info");
	if (!alternate || attr->valp < c.at || attr->valp > c.end)
		return false;
	c.at = attr->valp;
	struct xc_error *err = xc_cursor_uint(&c, size, &offset);
	xc_error_free(err);
	return !err && dwarf_offdie(alternate, offset, to_out) != NULL;
}

bool xc_die_follow(Dwarf_Attribute *attr, Dwarf_Die *to_out)
{
	unsigned form = dwarf_whatform(attr);
	if (form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8)
		return follow_supplementary(attr, form == DW_FORM_ref_sup4 ? 4 : 8, to_out);
	return dwarf_formref_die(attr, to_out) != NULL;
}

static bool is_unit(Dwarf_Die *die)
{
	int tag = xc_die_tag(die);
	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit || tag == DW_TAG_type_unit;
}

/* Like dwarf_attr_integrate, which follows links by itself and so not the forms above. */
bool xc_die_attr(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attr_out)
{
	Dwarf_Attribute link;
	Dwarf_Die at = *die;
	for (int i = 0; i < MAX_LINKS; i++) {
		if (dwarf_attr(&at, name, attr_out))
			return true;
		if ((!dwarf_attr(&at, DW_AT_abstract_origin, &link) && !dwarf_attr(&at, DW_AT_specification, &link)) ||
		    !xc_die_follow(&link, &at))
			break;
	}
	return is_unit(die) &&
	       dwarf_attr_integrate(die, name, attr_out); /* some attributes of a split unit are in its skeleton */
}

const char *xc_die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	return xc_die_attr(die, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
}

const char *xc_die_identifier(Dwarf_Die *die, struct xc_arena *arena)
{
	const char *name = xc_die_name(die);
	if (!name || strnlen(name, XC_DIE_IDENTIFIER + 1) <= XC_DIE_IDENTIFIER)
		return name;
	return xc_arena_printf(arena, "%.*s…", XC_DIE_IDENTIFIER, name);
}

bool xc_die_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	bool set = false;
	return xc_die_attr(die, name, &attr) && dwarf_formflag(&attr, &set) == 0 && set;
}

bool xc_die_ref(Dwarf_Die *die, unsigned name, Dwarf_Die *to_out)
{
	Dwarf_Attribute attr;
	return xc_die_attr(die, name, &attr) && xc_die_follow(&attr, to_out);
}

static bool signed_constant(Dwarf_Attribute *attr, uint64_t *value_out)
{
	Dwarf_Sword value;
	if (dwarf_formsdata(attr, &value) != 0)
		return false;
	*value_out = (uint64_t)value;
	return true;
}

bool xc_die_constant(Dwarf_Attribute *attr, uint64_t *value_out)
{
	switch (dwarf_whatform(attr)) {
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		return signed_constant(attr, value_out);
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
		return dwarf_formudata(attr, value_out) == 0;
	default:
		return false;
	}
}

bool xc_die_number(Dwarf_Die *die, unsigned name, uint64_t *value_out)
{
	Dwarf_Attribute attr;
	return xc_die_attr(die, name, &attr) && xc_die_constant(&attr, value_out);
}

bool xc_die_holds(Dwarf_Die *die, uint64_t file_addr)
{
	Dwarf_Addr base, lo, end;
	ptrdiff_t at = 0;
	while (xc_budget_spend(1) && (at = dwarf_ranges(die, at, &base, &lo, &end)) > 0)
		if (lo <= file_addr && file_addr < end)
			return true;
	return false;
}

bool xc_die_entry(Dwarf_Die *die, uint64_t *file_addr_out)
{
	Dwarf_Addr base, lo, end;
	if (dwarf_entrypc(die, &lo) != 0 && dwarf_ranges(die, 0, &base, &lo, &end) <= 0)
		return false;
	*file_addr_out = lo;
	return lo != 0; /* address 0: the linker dropped the code */
}

unsigned xc_die_behind_call(Dwarf_CU *cu)
{
	GElf_Ehdr header;
	return cu && gelf_getehdr(dwarf_getelf(dwarf_cu_getdwarf(cu)), &header) && header.e_machine == EM_PPC64 ? 4 : 0;
}
