/* minidebug: the small symbol table that Fedora and others keep, xz-compressed, inside stripped files
 * (.gnu_debugdata: "MiniDebugInfo", GDB manual 18.4). */
#ifndef XC_MINIDEBUG_H
#define XC_MINIDEBUG_H

#include "dwarf/elf/elffile.h"

/* Inflate and open it. False when elf has none, when it is damaged, or when it inflates to more than 64 MiB. */
bool xc_minidebug_open(Elf *elf, struct xc_elffile *file_out);

#endif
