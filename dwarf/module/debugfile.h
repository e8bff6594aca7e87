/* debugfile: the ELF and DWARF files of one module, found and opened when first asked for.
 *
 * Three things are opened apart, since each costs: the module's own ELF (call frame information,
 * .dynsym), its symbols, and its DWARF. Separate debug files are found by build-id directory, .gnu_debuglink
 * with CRC, --debug-dir, MiniDebugInfo (.gnu_debugdata) and, when asked, debuginfod (see debugsearch.h); they
 * serve only when their build-id equals the module's (or the CRC matches where there is no build-id).
 * A module whose file is unverified because the core lost its build-id gives code, call frame information and symbols
 * only, no lines and values. (Where program and file both never had a build-id, all other checks have passed on
 * pages that are there: its DWARF is used, and the module stays labelled. So it is with the program itself when the user names it
 * by --exe, unless --strict: cores that qemu writes for a guest hold no pages of files, and so no build-id.)
 * libdw is given bytes that we mapped ourselves; no callback of libdwfl is used.
 * Not thread-safe (libdw 0.188 is not). */
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

/* The module's own ELF: its file, or for modules without one an image rebuilt from memory (vDSO, files
 * deleted or not found, as far as program headers and pages survive). NULL when there is neither. */
Elf *xc_debugfile_elf(struct xc_debugfile *df);

/* Its DWARF, from the module's own file or its debug file; NULL when there is none. A dwz file that it refers to is
 * attached; where that is missing, look-ups into it fail and xc_debugfile_why says so. The same with split units (split.h). */
Dwarf *xc_debugfile_dwarf(struct xc_debugfile *df);

/* The mapped bytes of the ELF that the DWARF is read from (inflated ones from the cache included); NULL when it is not
 * one mapped file. */
struct xc_source *xc_debugfile_dwarf_source(struct xc_debugfile *df);

/* The file that the DWARF came from, as it is stored; NULL without DWARF. And where it was looked for. */
const struct xc_elffile *xc_debugfile_dwarf_file(struct xc_debugfile *df);
const struct xc_finder *xc_debugfile_finder(const struct xc_debugfile *df);

/* The ELF that the DWARF came from, for .debug_frame; NULL without DWARF. */
Elf *xc_debugfile_dwarf_elf(struct xc_debugfile *df);

/* The split units of its DWARF; NULL when there can be none. */
struct xc_split *xc_debugfile_split(struct xc_debugfile *df);

/* The same, but NULL when nobody asked for its DWARF: nothing is looked for. */
const struct xc_split *xc_debugfile_split_in_use(const struct xc_debugfile *df);

/* Its symbols: .symtab of the file or else of the debug file, else MiniDebugInfo's together with .dynsym, else .dynsym
 * together with the functions that Go's run-time knows (gopclntab.h). Never NULL; may be empty. */
const struct xc_symtab *xc_debugfile_symbols(struct xc_debugfile *df);

/* Its tables of call frame information, which cfimodule.h opens; freed with the debugfile. Never NULL. */
struct xc_cfitables *xc_debugfile_cfi(struct xc_debugfile *df);

/* Where the DWARF came from (the debug file's path or the module's own file_path), or NULL; and why there is none or
 * not all of it, with what to install or do, or NULL. Both strings live as long as the process. */
const char *xc_debugfile_path(struct xc_debugfile *df);
const char *xc_debugfile_why(struct xc_debugfile *df);

/* Is its file, or that of its debug information, one that the symbol store knew? */
bool xc_debugfile_stored(struct xc_debugfile *df);

/* The separate files in use, for packing: of DWARF and symbols, and of dwz; NULL where there is none. Finds them
 * first. Borrowed. */
const struct xc_source *xc_debugfile_separate(struct xc_debugfile *df);
const struct xc_source *xc_debugfile_alternate(struct xc_debugfile *df);

/* Release the debug files of all modules; called before xc_process_close. */
void xc_debugfiles_close(struct xc_process *process);

/* Set before any module is opened; borrowed for the life of the process. Called by the opener. Without it the
 * defaults hold. Also hides DEBUGINFOD_URLS from all libraries unless finder->debuginfod. */
void xc_debugfiles_use(struct xc_process *process, const struct xc_finder *finder);

#endif
