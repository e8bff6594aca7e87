/* line: source file and line of a code address, from .debug_line. */
#ifndef XC_LINE_H
#define XC_LINE_H

#include <elfutils/libdw.h>

#include "core/process/process.h"

struct xc_source_location {
	const char *file; /* full path as recorded; lives as long as the xc_line_tables */
	unsigned line, column;
};

/* The line tables of units, decoded on first use and kept: 16 bytes a row. */
struct xc_line_tables;

struct xc_line_tables *xc_line_tables_new(void);
void xc_line_tables_free(struct xc_line_tables *lines);

/* The line of a file address in a unit (a skeleton has those of its split unit). False when the line table does not
 * cover it, or says that the code belongs to no line. Cost: the unit's line program is decoded on first use; then
 * O(log n). */
bool xc_line_at(struct xc_line_tables *lines, Dwarf_Die *unit, uint64_t file_addr, struct xc_source_location *line_out);

/* The same for one file: of the rows at the place of the row that covers the address, the last one of this file, also
 * where it is no statement: optimizers leave several rows there, one for each function that was inlined. */
bool xc_line_of_file(struct xc_line_tables *lines, Dwarf_Die *unit, uint64_t file_addr, const char *file,
		     struct xc_source_location *line_out);

/* The file name with index `number` of the unit's table (DW_AT_call_file, DW_AT_decl_file); NULL if out of range. */
const char *xc_line_file(struct xc_line_tables *lines, Dwarf_Die *unit, uint64_t number);

#endif
