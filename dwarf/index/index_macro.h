/* index_macro: macros that may be numbers, as constants by name (only programs built with -g3 have macros). */
#ifndef XC_INDEX_MACRO_H
#define XC_INDEX_MACRO_H

#include "dwarf/index/index_scan.h"

/* In the place of a DW_TAG in the items of macros. */
enum { XC_INDEX_MACRO_TAG = 0xffff };

/* Add all of .debug_macro (space->macro). Macros with arguments, without a body, and with a body that cannot be an
 * expression are left out; of equal ones one is kept. Stops at the first damaged entry. */
void xc_index_scan_macros(struct xc_index_scan *scan, const struct xc_die_scan_space *space, uint32_t number);

/* Add those macros of the unit just scanned (scan->unit_macros) whose strings are found through that unit (clang).
 * Does nothing when the unit has none. */
void xc_index_scan_unit_macros(struct xc_index_scan *scan);

#endif
