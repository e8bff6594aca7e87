/* line: source file and line of a code address, from .debug_line. */
#ifndef XC_LINE_H
#define XC_LINE_H

#include "../core/process.h"
#include <elfutils/libdw.h>

struct xc_line {
	const char *file; /* full path as recorded; lives as long as the Dwarf */
	unsigned line, column;
};

/* The line of a file address in a unit. False when the line table does not cover it. Cost: the unit's line
 * program is decoded on first use. */
bool xc_line_at(Dwarf_Die *unit, uint64_t file_addr, struct xc_line *line_out);

/* The file name with index `number` of the unit's table (DW_AT_call_file, DW_AT_decl_file); NULL if out of range. */
const char *xc_line_file(Dwarf_Die *unit, uint64_t number);

#endif
