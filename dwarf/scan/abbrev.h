/* abbrev: a table of abbreviations checked before libdw reads the units that use it. */
#ifndef XC_ABBREV_H
#define XC_ABBREV_H

#include <libelf.h>

#include "core/base/base.h"

enum xc_abbrevs {
	XC_ABBREVS_ALONE, /* no form leads out of the unit */
	XC_ABBREVS_REFER, /* some may: to other units, other files */
	/* An entry has more attributes than any compiler writes. Attributes may take no bytes, so a unit of a
	 * megabyte can have a million such entries, and libdw reads all attributes of each. */
	XC_ABBREVS_HOSTILE,
};

/* Check the table at `offset` of .debug_abbrev to its end, and count its abbreviations (count_out: may be NULL).
 * Spends from the budget (budget.h); hostile when that is spent. */
enum xc_abbrevs xc_abbrevs_check(Elf *elf, uint64_t offset, size_t *count_out);

#endif
