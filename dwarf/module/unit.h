/* unit: one unit of a module's DWARF, found by address and opened by itself.
 *
 * libdw reads the header of every unit before the one asked for, and keeps a record of each: in a file of hundreds of
 * megabytes a single look-up touches them all. So a unit that refers to nothing outside itself is shown to libdw as a
 * separate file: an ELF header, written into the headroom before the mapped file, whose .debug_info is that unit
 * alone and whose other sections are the file's. A unit that refers elsewhere (partial units of dwz, type units,
 * link-time optimization) is opened within the whole file. */
#ifndef XC_UNIT_H
#define XC_UNIT_H

#include "dwarf/module/debugfile.h"

struct xc_units;

struct xc_units *xc_units_new(const struct xc_process *process);
void xc_units_free(struct xc_units *units);

/* The unit DIE that holds a code address of a module; false when none does. The DIE lives until xc_units_free. For a
 * split unit it is the DIE in the separate file if that was found, else the skeleton's. */
bool xc_unit_at(struct xc_units *units, struct xc_module *module, uint64_t file_addr, Dwarf_Die *unit_out);

/* The section of a module's debug information in which an offset counts. */
enum xc_unit_space {
	XC_UNIT_INFO,
	XC_UNIT_TYPES, /* .debug_types of DWARF 4 */
	XC_UNIT_ALT,   /* .debug_info of the file that dwz moved common parts to */
};

/* The DIE `die` bytes behind the start of the unit whose header is at offset `unit`. False when the unit cannot be
 * opened. The offset must be that of a DIE, as found by a scan. */
bool xc_unit_die(struct xc_units *units, struct xc_module *module, enum xc_unit_space space, uint64_t unit,
		 uint64_t die, Dwarf_Die *die_out);

/* The module whose debug information this Dwarf shows, as a whole or one unit of it; NULL when it was not opened
 * here. */
struct xc_module *xc_unit_module(const struct xc_units *units, Dwarf *dwarf);

/* The skeleton of a split unit (split.h), which has its lines and directory. False for other units. */
bool xc_unit_skeleton(struct xc_units *units, const Dwarf_Die *unit, Dwarf_Die *skeleton_out);

/* The number to subtract from an offset in the file's .debug_info to get the offset in this Dwarf: the start of a
 * unit that is open by itself, else 0. */
uint64_t xc_unit_base(Dwarf *dwarf);

#endif
