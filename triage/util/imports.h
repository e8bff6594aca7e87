/* imports: the name that the dynamic linker resolves for a slot of an import table, even before the first call. */
#ifndef XC_IMPORTS_H
#define XC_IMPORTS_H

#include "core/process/process.h"

/* By the relocations of the module that contains the slot; NULL when there is none. Lives as long as the module's
 * file is open. The relocations of a module are read once. */
const char *xc_imports_at(const struct xc_process *process, xc_addr slot);

/* May a function of the process be called by a signal: does a module other than the C library import a function that
 * sets handlers, or is that not known: a module has no file, or the C library is none of its own? */
bool xc_imports_handlers(const struct xc_process *process);

#endif
