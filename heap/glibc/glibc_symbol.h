/* glibc_symbol: what libc's file says of the main arena, beside what its memory shows. */
#ifndef XC_GLIBC_SYMBOL_H
#define XC_GLIBC_SYMBOL_H

#include "core/process/process.h"

/* The value that the loader put into a pointer of the module when it was loaded: a relative relocation. False when there is none for that
 * place, or its value stands in a file that is not there. The main arena's `next` points to the arena itself at first. */
bool xc_glibc_symbol_initial_value(const struct xc_process *process, const struct xc_module *module, xc_addr slot,
				   xc_addr *value_out);

/* The address of the symbol main_arena; false without symbols (distributions keep them in separate files). */
bool xc_glibc_symbol_main_arena(const struct xc_process *process, struct xc_module *module, xc_addr *addr_out);

#endif
