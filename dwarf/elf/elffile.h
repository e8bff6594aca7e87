/* elffile: one ELF file opened for libelf and libdw, over bytes that xcore mapped itself.
 *
 * libelf is given memory (elf_memory), never a descriptor. So a file that is truncated while it is read is covered by
 * core/io/source's SIGBUS handler, and libdw knows no path from which it could search for other files. */
#ifndef XC_ELFFILE_H
#define XC_ELFFILE_H

#include <elfutils/libdw.h>
#include <libelf.h>

#include "core/elf/elf.h"
#include "core/io/source.h"

struct xc_elffile {
	struct xc_source *source; /* its bytes; NULL for an image in memory */
	bool owned;               /* close the source too */
	void *image;              /* malloc'ed bytes when there is no source; or NULL */
	Elf *elf;                 /* NULL: not open */
	struct xc_source
		*plain; /* its compressed debug sections, inflated now or earlier: a separate ELF image; or NULL */
	Elf *plain_elf;
	Dwarf *dwarf; /* NULL before xc_elffile_dwarf, or without DWARF; for its ELF see dwarf_getelf */
};

/* Open over a source, which is taken when `owned`, also on failure. False when it is not an ELF file. */
bool xc_elffile_open(struct xc_elffile *file, struct xc_source *source, bool owned);

/* Open over malloc'ed bytes, which are taken also on failure; a NUL must follow them. */
bool xc_elffile_open_image(struct xc_elffile *file, void *bytes, size_t size);

/* The bytes of the section with this name as stored (not inflated); NULL when it is absent or empty. */
Elf_Data *xc_elffile_section(Elf *elf, const char *name);

/* Does it have DWARF (.debug_info with bytes, compressed or not)? */
bool xc_elffile_has_dwarf(Elf *elf);

/* Does it have a .symtab with entries? */
bool xc_elffile_has_symtab(Elf *elf);

struct xc_build_id xc_elffile_build_id(Elf *elf);

/* The ELF whose debug sections are plain: the file's own, or an image of it, inflated or from the cache as for
 * xc_elffile_dwarf. Call once. Lives as long as the file. Errors: those of xc_inflate_sections. */
XC_MUST_CHECK struct xc_error *xc_elffile_plain(struct xc_elffile *file, const char *cache_dir, Elf **elf_out);

/* Open its DWARF. Compressed sections are inflated here, all at once, or read from cache_dir, and kept there (NULL:
 * no cache). NULL without an error when the file has no DWARF. Errors: those of xc_inflate_sections; XC_ERR_FORMAT
 * when libdw cannot read it. */
XC_MUST_CHECK struct xc_error *xc_elffile_dwarf(struct xc_elffile *file, const char *cache_dir, Dwarf **dwarf_out);

/* Open as a file whose Dwarf has no information at all. NULL when libelf or libdw fails. */
Dwarf *xc_elffile_empty_dwarf(struct xc_elffile *file);

void xc_elffile_close(struct xc_elffile *file); /* may be zeroed or closed */

#endif
