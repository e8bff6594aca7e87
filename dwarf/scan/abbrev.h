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

/* The most abbreviations that the tables of all units together may have, for a file of that many bytes. libdw keeps a
 * copy of its table for each unit, of up to 60 bytes for each abbreviation. Where units share a table, a few megabytes
 * of file would become gigabytes. Type units of honest files share tables, too: of a thousand abbreviations or two, for
 * each unit of two hundred bytes, a third of that when compressed. `opened`: of the units that are opened, not of all
 * that a search in libdw might come to. */
uint64_t xc_abbrevs_most(uint64_t bytes, bool opened);

/* Take `amount` from what is left. False when there is less: then it is used up, and xc_budget_is_short(). */
bool xc_abbrevs_take(uint64_t *left, uint64_t amount);

#endif
