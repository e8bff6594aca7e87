/* die: wrappers over libdw.
 *
 * libdw follows DW_AT_sibling wherever it points. DIEs of a unit stand in memory in file order, so a step that does
 * not lead to a higher address is a damaged or hostile file, and ends the walk. */
#include "die.h"

#include <dwarf.h>

bool xc_die_child(Dwarf_Die *die, Dwarf_Die *child_out)
{
	Dwarf_Die child;
	if (dwarf_child(die, &child) != 0)
		return false;
	*child_out = child;
	return true;
}

bool xc_die_next(Dwarf_Die *die)
{
	Dwarf_Die next;
	if (dwarf_siblingof(die, &next) != 0 || next.addr <= die->addr)
		return false;
	*die = next;
	return true;
}

bool xc_die_attr(Dwarf_Die *die, unsigned name, Dwarf_Attribute *attr_out)
{
	return dwarf_attr_integrate(die, name, attr_out) != NULL;
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
	return xc_die_attr(die, name, &attr) && dwarf_formref_die(&attr, to_out) != NULL;
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
