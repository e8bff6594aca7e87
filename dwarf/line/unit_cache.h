/* unit_cache: the units and line tables of a process, opened on first use and kept.
 *
 * All readers of a process's debug information share them: places, types, look-ups by name. Not thread-safe. */
#ifndef XC_UNIT_CACHE_H
#define XC_UNIT_CACHE_H

#include "dwarf/line/line.h"
#include "dwarf/module/unit.h"

/* Create the cache of a process, if there is none, and set the budget (budget.h). All functions below call it. */
void xc_unit_cache_open(const struct xc_process *process);

/* Free the cache; DIEs and file names from it become invalid. A process without a cache is fine. */
void xc_unit_cache_close(struct xc_process *process);

/* The unit DIE that holds a code address of a module; false when none does. */
bool xc_unit_cache_at(const struct xc_process *process, struct xc_module *module, uint64_t file_addr,
		      Dwarf_Die *unit_out);

/* The DIE at an offset of a unit (see xc_unit_die). */
bool xc_unit_cache_die(const struct xc_process *process, struct xc_module *module, enum xc_unit_space space,
		       uint64_t unit, uint64_t die, Dwarf_Die *die_out);

/* The module whose debug information this Dwarf shows; NULL when none of its units was opened here. */
struct xc_module *xc_unit_cache_module(const struct xc_process *process, Dwarf *dwarf);

/* The source location of a code address in a unit (xc_line_at); a split unit has the lines of its skeleton. */
bool xc_unit_cache_line(const struct xc_process *process, Dwarf_Die *unit, uint64_t file_addr,
			struct xc_source_location *location_out);

/* The same for one file (xc_line_of_file). */
bool xc_unit_cache_line_of(const struct xc_process *process, Dwarf_Die *unit, uint64_t file_addr, const char *file,
			   struct xc_source_location *location_out);

/* The full path of DW_AT_decl_file or DW_AT_call_file in the unit that a DIE is of; NULL when there is none. */
const char *xc_unit_cache_file(const struct xc_process *process, Dwarf_Die *die, uint64_t number);

#endif
