/* elf: checked headers of an ELF file or of an ELF image in the target's memory.
 *
 * Only headers: libelf and libdw read sections and debug information. This reader exists because the program
 * headers of a core are hostile, may number more than 65,535 (PN_XNUM), and must be readable when the file
 * ends among them.
 * Layouts: System V gABI 4.1 chapter 4 and 5; PN_XNUM: Linux include/uapi/linux/elf.h. */
#ifndef XC_ELF_H
#define XC_ELF_H

#include "core/base/error.h"

enum { XC_BUILD_ID_MAX = 64 };

struct xc_build_id {
	uint8_t size; /* 0: unknown */
	uint8_t bytes[XC_BUILD_ID_MAX];
};

/* A program header, widened to 64 bits. */
struct xc_phdr {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz, align;
};

struct xc_elf {
	const uint8_t *bytes; /* of the file; borrowed */
	uint64_t size;
	uint8_t elf_class; /* ELFCLASS32 or ELFCLASS64 */
	bool big_endian;
	uint16_t type, machine;
	uint64_t entry;
	uint64_t phoff;
	uint32_t phnum;          /* according to the file, PN_XNUM resolved */
	uint32_t phdrs_readable; /* the number of them that lie inside the bytes */
	uint16_t phentsize;
};

/* Parse the header of a file of `size` bytes. Errors: XC_ERR_FORMAT. */
XC_MUST_CHECK struct xc_error *xc_elf_parse(const void *bytes, uint64_t size, struct xc_elf *elf_out);

/* Program header `index` < phdrs_readable. */
struct xc_phdr xc_elf_phdr(const struct xc_elf *elf, uint32_t index);

/* The build-id of NT_GNU_BUILD_ID in a file's PT_NOTE segments; size 0 when there is none. */
struct xc_build_id xc_elf_build_id(const struct xc_elf *elf);

/* The build-id in a run of notes (a PT_NOTE's bytes). align is 4 or 8. */
struct xc_build_id xc_elf_build_id_in_notes(const void *notes, size_t size, uint64_t align, bool big_endian);

/* The content of the first note of this owner and type in a run of notes, of at most `most` bytes; NULL: there is none.
 * Lies in them. */
const uint8_t *xc_elf_note_find(const void *notes, size_t size, uint64_t align, bool big_endian, const char *owner,
				uint64_t type, size_t most, size_t *size_out);

bool xc_build_id_equal(const struct xc_build_id *a, const struct xc_build_id *b);

/* Write lower-case hex into buf (2 * XC_BUILD_ID_MAX + 1 bytes). Returns buf. Empty for an unknown id. */
char *xc_build_id_hex(const struct xc_build_id *id, char *buf);

#endif
