/* debugfile: the ELF and DWARF files of one module, found and opened when first asked for.
 *
 * Three things are opened apart, since each costs: the module's own ELF (call frame information,
 * .dynsym), its symbols, and its DWARF. Separate debug files are found by build-id directory, .gnu_debuglink
 * with CRC, --debug-dir, MiniDebugInfo (.gnu_debugdata) and, when asked, debuginfod; they serve only when their
 * build-id equals the module's (or the CRC matches where there is no build-id).
 * libdw is given files that we opened ourselves; no callback of libdwfl is used.
 * Not thread-safe (libdw 0.188 is not). */
#ifndef XC_DEBUGFILE_H
#define XC_DEBUGFILE_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "../core/finder.h"
#include "../core/process.h"

struct xc_symtab;

struct xc_debugfile;

/* The debug files of a module; made on first use and kept in module->debug. Never NULL. */
struct xc_debugfile *xc_debugfile_of(const struct xc_process *process, struct xc_module *module);

/* The module's own ELF: its file, or for modules without one an image rebuilt from memory (vDSO, files
 * deleted or not found, as far as program headers and pages survive). NULL when there is neither. */
Elf *xc_debugfile_elf(struct xc_debugfile *df);

/* Its DWARF, from the module's own file or its debug file; NULL when there is none. */
Dwarf *xc_debugfile_dwarf(struct xc_debugfile *df);

/* The ELF that the DWARF came from, for .debug_frame; NULL without DWARF. */
Elf *xc_debugfile_dwarf_elf(struct xc_debugfile *df);

/* Its symbols: .symtab of the debug file or of the file, else MiniDebugInfo's together with .dynsym.
 * Never NULL; may be empty. */
const struct xc_symtab *xc_debugfile_symbols(struct xc_debugfile *df);

/* Where the DWARF came from (a path, or the module's own), or NULL; and why there is none, with what to
 * install or do, or NULL. Both strings live as long as the process. */
const char *xc_debugfile_path(struct xc_debugfile *df);
const char *xc_debugfile_why(struct xc_debugfile *df);

/* Release the debug files of all modules; called before xc_process_close. */
void xc_debugfiles_close(struct xc_process *process);

/* Set before any module is opened; borrowed for the life of the process. Called by the opener. */
void xc_debugfiles_use(struct xc_process *process, const struct xc_finder *finder);

#endif
