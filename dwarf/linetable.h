/* linetable: one line number program of .debug_line, decoded into rows and file names. */
#ifndef XC_LINETABLE_H
#define XC_LINETABLE_H

#include <libelf.h>

#include "../core/arena.h"
#include "../core/error.h"

struct xc_linerow {
	uint64_t addr;
	uint32_t line : 23, statement : 1, end : 1; /* end: first address behind a sequence */
	uint32_t unused : 7;
	uint16_t file, column; /* 65,535 and more are cut to 65,535 */
};

struct xc_linetable {
	struct xc_linerow *rows; /* by address; of one address in program order; malloc'ed */
	size_t row_count, row_capacity;
	const char **files; /* full paths by file number; NULL where there is none; malloc'ed */
	size_t file_count, file_capacity;
	struct xc_arena names;
};

/* Decode the program at `offset` of .debug_line of elf (plain sections). comp_dir may be NULL. What stands before
 * damage is kept. Bounded by the section's size. Layouts: DWARF 5, 6.2.4 and 6.2.5; DWARF 4 and older, the same sections. */
void xc_linetable_read(struct xc_linetable *table, Elf *elf, uint64_t offset, const char *comp_dir,
		       uint8_t address_size);
void xc_linetable_fini(struct xc_linetable *table);

#endif
