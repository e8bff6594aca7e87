/* elffile: one ELF file opened for libelf and libdw, over bytes that we mapped ourselves.
 *
 * libelf is given memory (elf_memory), never a descriptor: so a file that is cut while we read it is covered by
 * core/source's SIGBUS handler, and nothing in libdw knows a path that it could search from. */
#ifndef XC_ELFFILE_H
#define XC_ELFFILE_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "core/elf/elf.h"
#include "core/io/source.h"

struct xc_elffile {
	struct xc_source *source; /* its bytes; NULL for an image in memory */
	bool owned;               /* close source with it */
	void *image;              /* malloc'ed bytes instead of a source's; or NULL */
	Elf *elf;                 /* NULL: not open */
	struct xc_source
		*plain; /* its compressed debug sections, inflated now or once: an ELF image of its own; or NULL */
	Elf *plain_elf;
	Dwarf *dwarf; /* NULL until xc_elffile_dwarf, or without DWARF; dwarf_getelf tells of which ELF */
};

/* Open over a source, which is taken when `owned`, also on failure. False when it is not ELF. */
bool xc_elffile_open(struct xc_elffile *file, struct xc_source *source, bool owned);

/* Open over malloc'ed bytes, which are taken also on failure; a NUL must stand behind them. */
bool xc_elffile_open_image(struct xc_elffile *file, void *bytes, size_t size);

/* The bytes of the section with this name, NULL when it is absent or empty; as they stand (not inflated). */
Elf_Data *xc_elffile_section(Elf *elf, const char *name);

/* Does it have DWARF (.debug_info with bytes, compressed or not)? */
bool xc_elffile_has_dwarf(Elf *elf);

/* Does it have a .symtab with entries? */
bool xc_elffile_has_symtab(Elf *elf);

struct xc_build_id xc_elffile_build_id(Elf *elf);

/* The ELF whose debug sections are plain: the file's own, or an image of it, inflated or from the cache as xc_elffile_dwarf
 * says. Call once. Lives as long as the file. Errors: those of xc_inflate_sections. */
XC_MUST_CHECK struct xc_error *xc_elffile_plain(struct xc_elffile *file, const char *cache_dir, Elf **elf_out);

/* Open its DWARF. Compressed sections are inflated here, all at once, or taken from and left in cache_dir (NULL: no
 * cache). NULL without an error when it has none.
 * Errors: those of xc_inflate_sections; XC_ERR_FORMAT when libdw cannot read it. */
XC_MUST_CHECK struct xc_error *xc_elffile_dwarf(struct xc_elffile *file, const char *cache_dir, Dwarf **dwarf_out);

/* Open as a file whose Dwarf has no information at all. NULL when libelf or libdw refuses. */
Dwarf *xc_elffile_empty_dwarf(struct xc_elffile *file);

void xc_elffile_close(struct xc_elffile *file); /* a zeroed or closed one is fine */

#endif
