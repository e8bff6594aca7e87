/* package: which package of a distribution a module's file is of, as its build wrote it into a note of the file.
 *
 * systemd's "ELF Package Metadata": a note of type 0xcafe1a7e, owner "FDO", whose descriptor is JSON with "type", "name", "version" and
 * more, with a NUL behind it. `ld --package-metadata` writes it. It is in a loaded segment, mostly on the first page, which cores have. */
#ifndef XC_PACKAGE_H
#define XC_PACKAGE_H

#include "core/process/process.h"

/* "name version", or the name alone; printable, at most 256 bytes each; in the arena. From memory, else from the file where
 * one is used. NULL: there is no such note, or it is no such JSON. Cost: the module's notes are read. */
const char *xc_package_of(const struct xc_process *process, const struct xc_module *module, struct xc_arena *arena);

/* The same of a run of notes (a PT_NOTE's bytes). align is 4 or 8. */
const char *xc_package_in_notes(const void *notes, size_t size, uint64_t align, bool big_endian,
				struct xc_arena *arena);

#endif
