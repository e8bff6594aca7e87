/* module: which ELF objects were loaded where.
 *
 * The loader's list (r_debug and its link_maps, every dlmopen name space) is the best witness; NT_FILE names
 * them when that list is lost (a cut core) or never was (static programs); the program headers of the
 * executable itself (AT_PHDR) and of the vDSO (AT_SYSINFO_EHDR) complete both. */
#ifndef XC_MODULE_H
#define XC_MODULE_H

#include "core/process/process.h"

/* Fill process->modules from its space, auxv, mappings. Needs a sealed space. Damage becomes remarks. */
void xc_modules_find(struct xc_process *process);

/* After a file was found for the module: where there is no NT_FILE, the mappings that its segments lie in get its name. */
void xc_module_name_mappings(struct xc_process *process, struct xc_module *module);

/* Then, with the file's bytes laid: learn from its headers what those in memory, which are lost, would tell. The executable's
 * may lead to the loader's list and so to further modules, added behind the others. */
void xc_module_read_file(struct xc_process *process, struct xc_module *module);

/* Add a module to the process; path is copied. Returns it, zeroed but for path and name. */
struct xc_module *xc_module_add(struct xc_process *process, const char *path, enum xc_module_kind kind);

/* Do people call the module so? By its path, its last component, or that without what follows a dot or dash: "libc" for libc.so.6. */
bool xc_module_matches_name(const struct xc_module *module, const char *name);

/* The first module called so, or NULL: whole names before shortened ones. */
struct xc_module *xc_module_by_name(const struct xc_process *process, const char *name);

/* The C library, the loader, the C++ runtime or the vDSO: what a program stands on, not the program. */
bool xc_module_is_runtime(const struct xc_module *module);

/* Is the program linked statically: is there neither a loader nor a library? */
bool xc_modules_are_static(const struct xc_process *process);

#endif
