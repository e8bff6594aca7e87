/* accel: the units that define a name, from the look-up tables that some linkers and gdb-add-index write.
 *
 * .debug_names (DWARF 5, 6.1.1) and .gdb_index (gdb 13 manual, "Index Section Format", versions 7 to 9). They only
 * save work: a name that a table has leads to units, which are then scanned. A name that it lacks proves nothing,
 * since tables use one spelling of names and leave out some kinds. A table is used when it is sound: the units it
 * lists are exactly those of .debug_info, and everything it says about a name lies within bounds. */
#ifndef XC_ACCEL_H
#define XC_ACCEL_H

#include <libelf.h>

#include "dwarf/scan/die_scan.h"

struct xc_accel;

/* Offsets of units in .debug_info, ascending, each once; owned. */
struct xc_accel_units {
	uint64_t *offsets;
	size_t count, capacity;
};

/* NULL when the file has no sound table. Borrows the ELF and the space. Cost: reads the header of every unit. */
struct xc_accel *xc_accel_open(Elf *elf, const struct xc_die_scan_space *space);
void xc_accel_close(struct xc_accel *accel); /* NULL is fine */

/* The units that define a qualified name; last_len bytes at `last` are its last component. False when the table does
 * not have it, or is damaged there. */
bool xc_accel_find(const struct xc_accel *accel, const char *name, const char *last, size_t last_len,
		   struct xc_accel_units *units);
void xc_accel_units_fini(struct xc_accel_units *units);

#endif
