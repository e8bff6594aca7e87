/* cfimodule: the call frame information of one module: .eh_frame of its file, and .debug_frame of the file with its
 * debug information. */
#ifndef XC_CFIMODULE_H
#define XC_CFIMODULE_H

#include "dwarf/module/cfitable.h"
#include "dwarf/module/debugfile.h"

/* The entry that covers a file address of the module; false when none does. Its bytes live as long as the debugfile.
 * .debug_frame is read, and the debug information opened for it, only when .eh_frame has no entry. Cost: as
 * xc_cfitable_find. */
bool xc_cfimodule_find(struct xc_debugfile *df, uint64_t file_addr, struct xc_cfientry *entry_out);

/* Can the code that begins at file address `start` extend to `file_addr`? No when an entry begins between them, or
 * when the entry that holds `start` ends before. Yes when there is no call frame information. */
bool xc_cfimodule_reaches(struct xc_debugfile *df, uint64_t start, uint64_t file_addr);

#endif
