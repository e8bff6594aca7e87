/* cfimodule: the call frame information of one module: .eh_frame of its file and .debug_frame of that of its debug information. */
#ifndef XC_CFIMODULE_H
#define XC_CFIMODULE_H

#include "dwarf/module/cfitable.h"
#include "dwarf/module/debugfile.h"

/* The entry that covers a file address of the module; false when none does. Its bytes live as long as the debugfile. .debug_frame is
 * asked, and the debug information opened for it, only when .eh_frame does not know. Cost: as xc_cfitable_find. */
bool xc_cfimodule_find(struct xc_debugfile *df, uint64_t file_addr, struct xc_cfientry *entry_out);

/* May the code that begins at a file address have come as far as `file_addr`? No when an entry begins between them, or when the one that
 * `start` lies in ends. Yes where there is no such information. */
bool xc_cfimodule_reaches(struct xc_debugfile *df, uint64_t start, uint64_t file_addr);

#endif
