/* walk: fast steps over the DIEs of a unit that libdw has opened, by compiled abbreviations (die_scan.h).
 *
 * libdw 0.188 looks each abbreviation up in a table behind a lock, again for every attribute that it skips; walks
 * over large units spent most of their time there. Walkers are kept by unit until xc_walk_forget, which must be
 * called before the units are closed. One process at a time, one thread. */
#ifndef XC_WALK_H
#define XC_WALK_H

#include <elfutils/libdw.h>

#include "core/base/base.h"

enum xc_walk { XC_WALK_DONE, XC_WALK_END, XC_WALK_UNABLE };

/* The next sibling. END: there is none, or the unit nests too deep to find it. UNABLE: the unit cannot be walked this
 * way (compressed, damaged); use libdw. */
enum xc_walk xc_walk_next(const Dwarf_Die *die, Dwarf_Die *next_out);

/* The tag of a DIE and whether it has children; false: use libdw. */
bool xc_walk_peek(const Dwarf_Die *die, int *tag_out, bool *children_out);

void xc_walk_forget(void);

#endif
