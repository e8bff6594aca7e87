/* split_file: an open .dwo or .dwp: its sections and its units.
 *
 * Only sections whose names end in .dwo count, so an object file with both kinds (-gsplit-dwarf=single) is a .dwo. */
#ifndef XC_SPLIT_FILE_H
#define XC_SPLIT_FILE_H

#include "dwarf/elf/elffile.h"
#include "dwarf/scan/raw.h"

enum xc_split_section {
	XC_SPLIT_ABBREV,
	XC_SPLIT_STR,
	XC_SPLIT_STR_OFFSETS,
	XC_SPLIT_LINE,
	XC_SPLIT_LINE_STR,
	XC_SPLIT_LOC,      /* DWARF 4 */
	XC_SPLIT_LOCLISTS, /* DWARF 5 */
	XC_SPLIT_RNGLISTS,
	XC_SPLIT_SECTIONS
};

/* The origins of one unit's references: contributions to a .dwp, or the sections of a .dwo. */
struct xc_split_piece {
	struct xc_cursor info; /* the unit */
	bool types;            /* from .debug_types */
	struct xc_cursor sections[XC_SPLIT_SECTIONS];
};

/* .debug_cu_index or .debug_tu_index of a .dwp (split_index.c). */
struct xc_split_index {
	struct xc_cursor ids, rows, columns, offsets, sizes;
	uint32_t version, column_count, row_count, slot_count;
};

struct xc_split_file {
	struct xc_elffile elf;
	bool package; /* a .dwp */
	struct xc_cursor sections[XC_SPLIT_SECTIONS];
	struct xc_cursor
		*infos;    /* all sections .debug_info.dwo and .debug_types.dwo: gcc makes one for each type unit */
	bool *infos_types; /* which are .debug_types.dwo */
	size_t info_count, info_capacity, types_capacity;
	struct xc_split_index units, types;
};

/* Open; the source is taken, also on failure. Errors: XC_ERR_FORMAT (not an ELF file, nothing split in it, a damaged
 * index), those of xc_inflate_sections. Compressed sections are inflated, or read from cache_dir, and kept there
 * (NULL: no cache). */
XC_MUST_CHECK struct xc_error *xc_split_file_open(struct xc_source *source, const char *cache_dir,
						  struct xc_split_file **file_out);
void xc_split_file_close(struct xc_split_file *file); /* NULL is fine */

/* The pieces of a .dwo in the order of the file, units before type units; of a .dwp the unit with this id alone.
 * `each` returns false to stop. */
typedef bool xc_split_piece_fn(void *context, const struct xc_split_piece *piece, const struct xc_raw_unit *unit);
void xc_split_file_each(const struct xc_split_file *file, xc_split_piece_fn *each, void *context);

/* Find an id in an index of a .dwp. False when it is not in it. */
bool xc_split_file_find(const struct xc_split_file *file, bool type, uint64_t id, struct xc_split_piece *piece_out);

/* The id of a split unit, from its header or, in DWARF 4, from its first entry. False when it is not a split unit. */
bool xc_split_piece_id(const struct xc_split_piece *piece, const struct xc_raw_unit *unit, uint64_t *id_out);

/* ---- split_index.c ---- */

/* Read an index; an empty cursor gives an empty one. False when it is damaged. */
bool xc_split_index_read(struct xc_cursor section, struct xc_split_index *index_out);

/* The row of an id, from 1 on; 0 when there is none. */
uint32_t xc_split_index_find(const struct xc_split_index *index, uint64_t id);

/* The id in a slot, 0 ≤ slot < slot_count, and its row; false for an empty slot. */
bool xc_split_index_slot(const struct xc_split_index *index, uint32_t slot, uint64_t *id_out, uint32_t *row_out);

/* The contribution of a row to a section, named by DW_SECT_… of the index's own version; false when it has none. */
bool xc_split_index_part(const struct xc_split_index *index, uint32_t row, uint32_t section, uint64_t *offset_out,
			 uint64_t *size_out);

#endif
