/* split: a skeleton names its file by DW_AT_dwo_name (DWARF 5), or by DW_AT_GNU_dwo_name (GCC's and clang's DWARF 4). */
#include "split.h"

#include <dwarf.h>
#include "../core/base.h"
#include "elffile.h"

enum { UNITS_LOOKED_AT = 8 }; /* all units of a program are split, but for those of assembly and foreign archives */

static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	return dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static const char *dwo_name(Dwarf_Die *skeleton)
{
	const char *name = string_of(skeleton, DW_AT_dwo_name);
	return name ? name : string_of(skeleton, DW_AT_GNU_dwo_name);
}

char *xc_split_missing(Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	if (!xc_elffile_section(dwarf_getelf(dwarf), ".debug_addr"))
		return NULL; /* skeletons cannot do without; libdw is spared the look at the units */
	for (size_t i = 0; i < UNITS_LOOKED_AT && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0;
	     i++) {
		const char *name = dwo_name(&die);
		if (name)
			return xc_asprintf("split debug information (%s) is not read by this version: inlined "
					   "functions, types and values are missing",
					   name);
	}
	return NULL;
}
