/* section: the bytes of a section of an open ELF. */
#ifndef XC_SECTION_H
#define XC_SECTION_H

#include <gelf.h>

#include "core/base/cursor.h"

/* A walk over the sections that have a header and a name:
 *
 *	struct xc_section_walk walk;
 *	for (xc_section_walk_begin(&walk, elf); xc_section_walk_next(&walk);)
 *		look_at(walk.name, &walk.header); */
struct xc_section_walk {
	Elf *elf; /* borrowed */
	size_t names;
	Elf_Scn *section;
	const char *name; /* lives as long as elf */
	GElf_Shdr header;
	bool more;
};

/* Begin before the first section. False when the file has no table of their names: the walk is empty then. */
bool xc_section_walk_begin(struct xc_section_walk *walk, Elf *elf);

/* Step to the next section; false when there is none. */
bool xc_section_walk_next(struct xc_section_walk *walk);

/* A cursor over the section with this name as stored in the file (little-endian; not inflated); empty when it is
 * absent, without bytes or compressed. The name must outlive the cursor. */
struct xc_cursor xc_section_cursor(Elf *elf, const char *name);

#endif
