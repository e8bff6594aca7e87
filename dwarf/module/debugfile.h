/* debugfile: the ELF and DWARF files of one module, found and opened on first use.
 *
 * The module's own ELF (call frame information, .dynsym), its symbols and its DWARF are opened separately, since each
 * is expensive. Separate debug files are found by build-id directory, .gnu_debuglink with CRC, --debug-dir,
 * MiniDebugInfo (.gnu_debugdata) and, when enabled, debuginfod (see debugsearch.h). They are used only when their
 * build-id equals the module's (or the CRC matches where there is no build-id).
 *
 * A module whose file is unverified because the core lost its build-id provides code, call frame information and
 * symbols, but no lines and values. There are two exceptions. Where program and file both never had a build-id, and
 * all other checks passed on the pages that are present, the DWARF is used and the module stays labelled. The same
 * holds for the program itself when the user names it by --exe, unless --strict: cores that qemu writes for a guest
 * hold no pages of files, and so no build-id.
 *
 * libdw is given bytes that xcore mapped itself; no callback of libdwfl is used. Not thread-safe (libdw 0.188 is
 * not). */
#ifndef XC_DEBUGFILE_H
#define XC_DEBUGFILE_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "core/process/finder.h"
#include "core/process/process.h"

struct xc_cfitables;
struct xc_symtab;
struct xc_elffile;

struct xc_debugfile;
struct xc_split;

/* The debug files of a module; made on first use and kept in module->debug. Never NULL. */
struct xc_debugfile *xc_debugfile_of(const struct xc_process *process, struct xc_module *module);

/* The module's own ELF: its file, or for modules without one an image rebuilt from memory (vDSO, files deleted or not
 * found), as far as program headers and pages survive. NULL when there is neither. */
Elf *xc_debugfile_elf(struct xc_debugfile *df);

/* Its DWARF, from the module's own file or its debug file; NULL when there is none. A dwz file that it refers to is
 * attached; where that is missing, look-ups into it fail and xc_debugfile_why says so. The same holds for split units
 * (split.h). */
Dwarf *xc_debugfile_dwarf(struct xc_debugfile *df);

/* The mapped bytes of the ELF that holds the DWARF (also inflated ones from the cache); NULL when it is not one
 * mapped file. */
struct xc_source *xc_debugfile_dwarf_source(struct xc_debugfile *df);

/* The stored file that the DWARF came from, NULL without DWARF; and where files are looked for. */
const struct xc_elffile *xc_debugfile_dwarf_file(struct xc_debugfile *df);
const struct xc_finder *xc_debugfile_finder(const struct xc_debugfile *df);

/* The ELF that the DWARF came from, for .debug_frame; NULL without DWARF. */
Elf *xc_debugfile_dwarf_elf(struct xc_debugfile *df);

/* The split units of its DWARF; NULL when there can be none. */
struct xc_split *xc_debugfile_split(struct xc_debugfile *df);

/* The same, but NULL before its DWARF was asked for: does not search. */
const struct xc_split *xc_debugfile_split_in_use(const struct xc_debugfile *df);

/* Its symbols: .symtab of the file or else of the debug file, else MiniDebugInfo's together with .dynsym, else
 * .dynsym together with the functions of Go's runtime table (gopclntab.h). Never NULL; may be empty. */
const struct xc_symtab *xc_debugfile_symbols(struct xc_debugfile *df);

/* Its tables of call frame information, which cfimodule.h opens; freed with the debugfile. Never NULL. */
struct xc_cfitables *xc_debugfile_cfi(struct xc_debugfile *df);

/* Where the DWARF came from (the debug file's path or the module's own file_path), or NULL; and why DWARF is missing
 * or incomplete, with what to install or do, or NULL. Both strings live as long as the process. */
const char *xc_debugfile_path(struct xc_debugfile *df);
const char *xc_debugfile_why(struct xc_debugfile *df);

/* Was its file, or that of its debug information, found by the symbol store? */
bool xc_debugfile_stored(struct xc_debugfile *df);

/* The separate files in use, for packing: that of DWARF and symbols, and that of dwz; NULL where there is none. Finds
 * them first. Borrowed. */
const struct xc_source *xc_debugfile_separate(struct xc_debugfile *df);
const struct xc_source *xc_debugfile_alternate(struct xc_debugfile *df);

/* Release the debug files of all modules; called before xc_process_close. */
void xc_debugfiles_close(struct xc_process *process);

/* Set the finder before any module is opened; borrowed for the life of the process. Without it defaults apply. Also
 * hides DEBUGINFOD_URLS from all libraries unless finder->debuginfod. */
void xc_debugfiles_use(struct xc_process *process, const struct xc_finder *finder);

#endif
