/* linetable: one line number program of .debug_line, decoded into rows and file names. */
#ifndef XC_LINETABLE_H
#define XC_LINETABLE_H

#include <libelf.h>

#include "core/base/arena.h"
#include "core/base/error.h"

struct xc_linerow {
	uint64_t addr;
	uint32_t line : 23, statement : 1, end : 1; /* end: first address after a sequence */
	uint32_t unused : 7;
	uint16_t file, column; /* values above 65,535 are stored as 65,535 */
};

/* A file in the table; strings are the section's. */
struct xc_linefile {
	const char *name; /* NULL: there is no file with this number, or its name is too long */
	const char *path; /* set by xc_linetable_file */
	uint64_t dir;
};

struct xc_linetable {
	struct xc_linerow *rows; /* by address; of one address in program order; malloc'ed */
	size_t row_count, row_capacity;
	struct xc_linefile *files; /* by file number; malloc'ed */
	size_t file_count, file_capacity;
	const char **dirs;
	size_t dir_count, dir_capacity;
	const char *comp_dir;
	struct xc_arena paths;
	struct xc_lineprogram *program; /* NULL once it has run, or when there is none */
};

/* Read the header of the program at `offset` of .debug_line of elf (plain sections): its files. elf and comp_dir (may
 * be NULL) must outlive the table. What precedes damage is kept. Layouts: DWARF 5, 6.2.4 and 6.2.5; DWARF 4 and
 * older, the same sections. */
void xc_linetable_read(struct xc_linetable *table, Elf *elf, uint64_t offset, const char *comp_dir,
		       uint8_t address_size);

/* Run the program, once: reads the rows, at most max_rows of them, and the files that the program defines. */
void xc_linetable_run(struct xc_linetable *table, size_t max_rows);

/* The full path of a file by its number, or NULL; lives as long as the table. Paths are built on request: a table of
 * a megabyte can name a terabyte of them. */
const char *xc_linetable_file(struct xc_linetable *table, uint64_t number);

void xc_linetable_fini(struct xc_linetable *table);

#endif
