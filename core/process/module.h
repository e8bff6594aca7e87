/* module: finds the loaded ELF objects and their addresses.
 *
 * The loader's list (r_debug and its link_maps, every dlmopen name space) is the best source. NT_FILE names the objects
 * when that list is lost (a truncated core) or never existed (static programs). The program headers of the executable
 * (AT_PHDR) and of the vDSO (AT_SYSINFO_EHDR) complete both. */
#ifndef XC_MODULE_H
#define XC_MODULE_H

#include "core/process/process.h"

/* Fill process->modules from space, auxv and mappings. The space must be sealed. Damage becomes remarks. */
void xc_modules_find(struct xc_process *process);

/* Append modules that were loaded since, after xc_live_remap. Those that were unloaded stay. */
void xc_modules_find_new(struct xc_process *process);

/* After a file was found for the module: without NT_FILE, name the mappings that its segments lie in. */
void xc_module_name_mappings(struct xc_process *process, struct xc_module *module);

/* After the file's bytes were added to the space: if the headers in memory are lost, read those of the file. The
 * executable's may lead to the loader's list and so to further modules, which are appended. */
void xc_module_read_file(struct xc_process *process, struct xc_module *module);

/* Add a module to the process. path is copied. Returns it, zeroed except for path and name. */
struct xc_module *xc_module_add(struct xc_process *process, const char *path, enum xc_module_kind kind);

/* Does `name` denote the module: its path, the last component, or that up to a dot or dash ("libc" for libc.so.6)? */
bool xc_module_matches_name(const struct xc_module *module, const char *name);

/* The first module that `name` denotes, or NULL. Full names are preferred to shortened ones. */
struct xc_module *xc_module_by_name(const struct xc_process *process, const char *name);

/* Is it the C library, the loader, the C++ runtime or the vDSO, and not part of the program itself? */
bool xc_module_is_runtime(const struct xc_module *module);

/* Is the program linked statically: without a loader and without libraries? */
bool xc_modules_are_static(const struct xc_process *process);

#endif
