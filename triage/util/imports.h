/* imports: the name that the dynamic linker will look up for a slot of an import table, also when nobody called it yet. */
#ifndef XC_IMPORTS_H
#define XC_IMPORTS_H

#include "core/process/process.h"

/* By the relocations of the module that the slot lies in; NULL when there is none. Lives as long as the module's file is open.
 * A module's relocations are read once. */
const char *xc_imports_at(const struct xc_process *process, xc_addr slot);

#endif
