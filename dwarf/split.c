/* split: may a skeleton unit be completed, and what to say when not. A skeleton names its file by DW_AT_dwo_name below
 * DW_AT_comp_dir (DWARF 5), or by DW_AT_GNU_dwo_name (GCC's and clang's DWARF 4). */
#include "split.h"

#include <dwarf.h>
#include <stdlib.h>

#include "../core/finder.h"
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

bool xc_split_may_open(const struct xc_process *process, Dwarf_Die *skeleton)
{
	const char *name = dwo_name(skeleton), *dir = string_of(skeleton, DW_AT_comp_dir);
	if (!name || !dir || process->sysroot || process->archive)
		return false;
	xc_auto(xc_freep) char *path = *name == '/' ? xc_strdup(name) : xc_asprintf("%s/%s", dir, name);
	xc_auto(xc_source_closep) struct xc_source *file = NULL;
	struct xc_error *err = xc_finder_open(NULL, path, &file);
	xc_error_free(err);
	return !err;
}

char *xc_split_missing(const struct xc_process *process, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	if (!xc_elffile_section(dwarf_getelf(dwarf), ".debug_addr"))
		return NULL; /* skeletons cannot do without; libdw is spared the look at the units */
	for (size_t i = 0; i < UNITS_LOOKED_AT && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0;
	     i++) {
		const char *name = dwo_name(&die);
		if (!name)
			continue;
		if (xc_split_may_open(process, &die))
			return NULL;
		return xc_asprintf(
			"split debug information (%s) was not found: inlined functions, types and values are missing",
			name);
	}
	return NULL;
}
