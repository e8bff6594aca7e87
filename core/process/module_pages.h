/* module_pages: pages of modules that the core omits and their files hold.
 *
 * A dumper leaves out clean private pages of files. The kernel still has a program header for them; gdb (gcore too)
 * only lists them in NT_FILE. The bytes of a module's file stand in for such pages: never for bytes lost to truncation,
 * for shared mappings or for data files (gdb shows stale file bytes there). */
#ifndef XC_MODULE_PAGES_H
#define XC_MODULE_PAGES_H

#include "core/process/module.h"

/* Did the dumper write anonymous private memory (coredump_filter bit 0)? Then a writable private file mapping without
 * stored bytes was never written to, and its content is that of the file. O(mappings). */
bool xc_process_touched_dumped(const struct xc_process *process);

/* Add the pages of the module's file to the space where its mappings have none. `touched_dumped`: see above. Takes
 * effect with the next seal. */
void xc_module_lay_file(struct xc_process *process, const struct xc_module *module, bool touched_dumped);

/* Claim each range that NT_FILE lists and no program header covers: it was mapped, but not dumped. Where a module's
 * file has its bytes, add these and a mapping, whose access is what the file's segments say; writable segments only for
 * gdb's cores, and like those above. Modules must be indexed (xc_process_index) and the core's program headers
 * complete. Mappings are then no longer sorted. O(rows log modules). */
void xc_modules_lay_omitted(struct xc_process *process);

#endif
