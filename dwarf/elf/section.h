/* section: the bytes of a section of an open ELF. */
#ifndef XC_SECTION_H
#define XC_SECTION_H

#include <libelf.h>

#include "core/base/cursor.h"

/* A cursor over the section with this name as stored in the file (little-endian; not inflated); empty when it is
 * absent, without bytes or compressed. The name must outlive the cursor. */
struct xc_cursor xc_section_cursor(Elf *elf, const char *name);

#endif
