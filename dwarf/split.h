/* split: units whose functions, types and values stand in a file of their own, a .dwo (DWARF 5, 7.3.2).
 *
 * libdw 0.188 opens these files by itself, by the names in the skeleton unit, and reads no .dwp packages. So they serve
 * only where the debug information came from this host's own root: not below --sysroot, not from a pack. */
#ifndef XC_SPLIT_H
#define XC_SPLIT_H

#include <elfutils/libdw.h>

#include "../core/process.h"

/* May libdw look for the split unit of this unit? False for units that have none, and where its file is not a regular
 * file that this process may use. Opens the file and closes it again. */
bool xc_split_may_open(const struct xc_process *process, Dwarf_Die *skeleton);

/* What is missing when the first skeleton unit of dwarf cannot be completed: one clause, malloc'ed. NULL when it
 * can, or when there is none among the first units. The same words everywhere, so that a pack tells what its core told. */
char *xc_split_missing(const struct xc_process *process, Dwarf *dwarf);

#endif
