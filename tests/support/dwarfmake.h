/* dwarfmake: debug information written byte by byte, in any version and form, including forms that no compiler emits
 * and invalid ones.
 *
 * Sections grow by appending. Each unit has its own abbreviations: an entry declares one as its attributes are added,
 * so that an attribute is written once, spec and value together. Nothing is checked: a test gets exactly the bytes it
 * writes. */
#ifndef XC_TEST_DWARFMAKE_H
#define XC_TEST_DWARFMAKE_H

#include "core/base/text.h"

enum dm_section {
	DM_INFO,
	DM_TYPES,
	DM_ABBREV,
	DM_STR,
	DM_LINE_STR,
	DM_STR_OFFSETS,
	DM_ADDR,
	DM_LOC,
	DM_LOCLISTS,
	DM_RANGES,
	DM_RNGLISTS,
	DM_ARANGES,
	DM_CU_INDEX,
	DM_TU_INDEX,
	DM_ALTLINK, /* .gnu_debugaltlink */
	DM_SUP,     /* .debug_sup */
	DM_NOTE,    /* .note.gnu.build-id */
	DM_SECTIONS
};

struct dm {
	struct xc_text sections[DM_SECTIONS]; /* may be written to directly */
	bool dwo;                             /* section names end in .dwo */
	uint16_t machine;                     /* 0: x86-64 */
	uint64_t base;                        /* address of .text in the image's program header; 0: none */
	/* of the current unit */
	enum dm_section info; /* DM_INFO or DM_TYPES */
	unsigned version, offset_size, address_size;
	size_t unit, length_at;
	uint64_t code;
	bool open; /* the declaration of an entry's attributes */
};

void dm_fini(struct dm *dm);

/* ---- bytes ---- */

size_t dm_at(const struct dm *dm, enum dm_section section); /* bytes so far */
void dm_u(struct dm *dm, enum dm_section section, uint64_t value, size_t size);
void dm_uleb(struct dm *dm, enum dm_section section, uint64_t value);
void dm_sleb(struct dm *dm, enum dm_section section, int64_t value);
void dm_bytes(struct dm *dm, enum dm_section section, const void *bytes, size_t len);
size_t dm_string(struct dm *dm, enum dm_section section, const char *text); /* with its NUL; returns where it begins */
void dm_patch(struct dm *dm, enum dm_section section, size_t at, uint64_t value, size_t size);

/* A length field of the unit's width. Returns its position; dm_length sets it later. */
size_t dm_length_begin(struct dm *dm, enum dm_section section);
void dm_length(struct dm *dm, enum dm_section section, size_t begin);

/* ---- units ---- */

struct dm_unit {
	unsigned version, offset_size, address_size; /* 0: 5, 4, 8 */
	unsigned type; /* DW_UT_…; 0: DW_UT_compile; DW_UT_type goes to .debug_types in version 4 */
	uint64_t id;   /* signature or dwo_id */
};

/* Begin a unit. Returns its offset in the section. */
size_t dm_unit(struct dm *dm, const struct dm_unit *unit);
void dm_unit_end(struct dm *dm); /* sets the length */

/* Set the type offset of the current type unit to an entry. */
void dm_type_offset(struct dm *dm, size_t die);

/* Begin an entry. Returns its offset from the start of the unit. */
size_t dm_die(struct dm *dm, unsigned tag, bool children);
void dm_end(struct dm *dm); /* the zero that ends a list of children */

/* ---- attributes of the current entry ---- */

void dm_attr(struct dm *dm, unsigned name, unsigned form); /* only the spec: the caller writes the bytes */
void dm_name(struct dm *dm, const char *name);             /* DW_FORM_string */

/* The form decides the encoding: 1 to 8 bytes, LEB128, offset, address, nothing, or in the declaration. */
void dm_number(struct dm *dm, unsigned name, unsigned form, uint64_t value);
void dm_block(struct dm *dm, unsigned name, unsigned form, const void *bytes, size_t len);

/* DW_FORM_exprloc, or DW_FORM_block1 before version 4. */
void dm_expr(struct dm *dm, unsigned name, const void *bytes, size_t len);

/* DW_FORM_indirect: writes the form in the entry, then the value. */
void dm_indirect(struct dm *dm, unsigned name, unsigned form, uint64_t value);

/* ---- tables ---- */

/* The header of a table of string offsets, addresses or lists in version 5; nothing before. Returns where the entries
 * begin. For lists: with `count` offsets to be patched. End with dm_length(dm, section, begin), begin in *begin_out. */
size_t dm_table(struct dm *dm, enum dm_section section, uint32_t count, size_t *begin_out);

/* A string in .debug_str and its offset in .debug_str_offsets. */
void dm_strx(struct dm *dm, const char *text);

/* ---- the file ---- */

/* A malloc'ed ELF image, followed by a NUL. */
void *dm_image(const struct dm *dm, size_t *size_out);

/* The same as a file in the scratch directory. Returns its path. */
const char *dm_file(const struct dm *dm, const char *name);

#endif
