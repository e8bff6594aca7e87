/* skeleton: the link from a skeleton unit to its split unit (DWARF 5, 3.1.2; GNU's form of DWARF 4, gcc wiki
 * "DebugFission"). */
#ifndef XC_SKELETON_H
#define XC_SKELETON_H

#include <libelf.h>

#include "dwarf/scan/raw.h"

/* The sections of a module's debug information that skeletons and split units refer to; borrowed, plain. */
struct xc_skeleton_sections {
	struct xc_cursor info, abbrev, str, line_str, str_offsets, addr, ranges;
	uint16_t machine; /* EM_… */
};

struct xc_skeleton {
	uint64_t offset; /* of its header in .debug_info */
	uint64_t id;
	uint64_t low_pc;        /* 0: none, or several ranges */
	uint64_t addr_base;     /* in .debug_addr, of entry 0 */
	uint64_t ranges_base;   /* in .debug_ranges, of DWARF 4 */
	const char *name, *dir; /* DW_AT_dwo_name; DW_AT_comp_dir, or NULL. In the sections */
	uint8_t version;
};

void xc_skeleton_sections(Elf *elf, struct xc_skeleton_sections *sections_out);

/* Read the unit at an offset of .debug_info. False when it is not a skeleton. *size_out (may be NULL) gets its size
 * in bytes, 0 when the section is damaged there. Cost: reads only the first entry. */
bool xc_skeleton_read(const struct xc_skeleton_sections *sections, uint64_t offset, struct xc_skeleton *skeleton_out,
		      uint64_t *size_out);

#endif
