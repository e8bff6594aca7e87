/* abbrev: what a table of abbreviations says about its units before libdw reads them. */
#ifndef XC_ABBREV_H
#define XC_ABBREV_H

#include <libelf.h>

#include "core/base/base.h"

enum xc_abbrevs {
	XC_ABBREVS_ALONE, /* no form leads out of the unit */
	XC_ABBREVS_REFER, /* some may: to other units, other files */
	XC_ABBREVS_HOSTILE, /* an entry of more attributes than anyone writes: since attributes may take no bytes, a unit of a
	                       megabyte can have a million such entries, and libdw reads through all of each */
};

/* The table at `offset` of .debug_abbrev, read to its end. Spends from the budget (budget.h); hostile when that is spent. */
enum xc_abbrevs xc_abbrevs_check(Elf *elf, uint64_t offset);

#endif
