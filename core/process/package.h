/* package: the distribution package of a module, from a note that its build wrote into the file.
 *
 * systemd's "ELF Package Metadata": a note of type 0xcafe1a7e, owner "FDO". Its descriptor is a JSON string,
 * NUL-terminated, with "type", "name", "version" and more. `ld --package-metadata` writes it into a loaded segment,
 * mostly on the first page, which cores contain. */
#ifndef XC_PACKAGE_H
#define XC_PACKAGE_H

#include "core/process/process.h"

/* "name version", or the name alone; printable, at most 256 bytes each; in the arena. Read from memory, else from the
 * module's file. NULL: there is no such note, or its JSON is invalid. Cost: reads the module's notes. */
const char *xc_package_of(const struct xc_process *process, const struct xc_module *module, struct xc_arena *arena);

/* The same from a run of notes (the bytes of a PT_NOTE). align is 4 or 8. */
const char *xc_package_in_notes(const void *notes, size_t size, uint64_t align, bool big_endian,
				struct xc_arena *arena);

#endif
