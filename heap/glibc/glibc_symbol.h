/* glibc_symbol: what libc's file shows about the main arena, in addition to its memory. */
#ifndef XC_GLIBC_SYMBOL_H
#define XC_GLIBC_SYMBOL_H

#include "core/process/process.h"

/* The value that the loader stored in a pointer of the module at load time: a relative relocation. False if there
 * is none for that place, or if its value is in a file that is not available. Initially the main arena's `next`
 * points to the arena itself. */
bool xc_glibc_symbol_initial_value(const struct xc_process *process, const struct xc_module *module, xc_addr slot,
				   xc_addr *value_out);

/* N of the newest version GLIBC_2.N that libc's symbols have: its release is 2.N or later. 0: not known, as in static
 * programs. */
unsigned xc_glibc_symbol_release(const struct xc_process *process, const struct xc_module *module);

/* The address of the symbol main_arena. False without symbols; distributions keep them in separate files. */
bool xc_glibc_symbol_main_arena(const struct xc_process *process, struct xc_module *module, xc_addr *addr_out);

#endif
