/* die_scan: a fast reader of .debug_info for the name index, without libdw.
 *
 * Abbreviations are compiled to short programs: a run of attributes of fixed size becomes one skip, unwanted
 * attributes (nearly all) are stepped over, and only names, siblings, references to a declaration and a few numbers
 * are kept. A subtree is skipped by its DW_AT_sibling where there is one. Nothing is allocated per entry, and no
 * string is copied or read. All input is untrusted: a step never leaves its unit, and the scan of a damaged unit ends
 * there. Format: DWARF 5, 7.5 (units, abbreviations, forms), and its versions 2 to 4; GNU forms: elfutils 0.188,
 * libdw/dwarf.h. Several threads may read units at once, each with its own scan. */
#ifndef XC_DIE_SCAN_H
#define XC_DIE_SCAN_H

#include "core/base/cursor.h"

/* One .debug_info (or .debug_types, or .debug_info.dwo) and the sections that it refers to. Bytes are borrowed.
 * Little-endian. */
struct xc_die_scan_space {
	struct xc_cursor info, abbrev, str, line_str, str_offsets, macro;
	struct xc_cursor alt_str, alt_info; /* of the file that dwz moved common parts to */
	bool types;                         /* .debug_types: DWARF 4's units have a signature in their header */
	bool split;                         /* from a .dwo: str_offsets is the unit's own table */
};

struct xc_die_scan_unit {
	uint64_t offset, size;     /* in info, header included */
	uint64_t first;            /* offset of its first DIE */
	uint64_t abbrev;           /* offset of its abbreviations */
	uint64_t signature;        /* of a type unit, or the id of a skeleton or split unit; else 0 */
	uint64_t str_offsets_base; /* of its strx forms */
	uint8_t version, type;     /* DW_UT_… */
	uint8_t address_size, offset_size;
};

/* The section that holds a string. */
enum xc_die_scan_where {
	XC_DIE_SCAN_NOWHERE,
	XC_DIE_SCAN_INFO,
	XC_DIE_SCAN_STR,
	XC_DIE_SCAN_LINE_STR,
	XC_DIE_SCAN_ALT_STR,
	XC_DIE_SCAN_MACRO,
	XC_DIE_SCAN_ALT_INFO,
};
struct xc_die_scan_string {
	enum xc_die_scan_where where;
	uint64_t offset;
};

/* The facts of a DIE that an index needs. A field of xc_die_scan_entry is valid only if its bit is set in `has`. */
enum xc_die_scan_fact {
	XC_DIE_SCAN_NAME = 1 << 0,
	XC_DIE_SCAN_LINKAGE_NAME = 1 << 1,
	XC_DIE_SCAN_SIBLING = 1 << 2,
	XC_DIE_SCAN_ORIGIN = 1 << 3, /* DW_AT_specification or DW_AT_abstract_origin inside the unit */
	XC_DIE_SCAN_SIZE = 1 << 4,
	XC_DIE_SCAN_LINE = 1 << 5,
	XC_DIE_SCAN_VALUE = 1 << 6,    /* DW_AT_const_value; `value` holds it when it is a plain number */
	XC_DIE_SCAN_CODE = 1 << 7,     /* DW_AT_low_pc, DW_AT_ranges or DW_AT_entry_pc */
	XC_DIE_SCAN_LOCATION = 1 << 8, /* DW_AT_location */
	XC_DIE_SCAN_EXTERNAL = 1 << 9, /* the flag is set; so for the next ones */
	XC_DIE_SCAN_DECLARATION = 1 << 10,
	XC_DIE_SCAN_EXPORTS = 1 << 11, /* DW_AT_export_symbols: an inline namespace */
	XC_DIE_SCAN_ENUM_CLASS = 1 << 12,
	XC_DIE_SCAN_STR_OFFSETS = 1 << 13, /* DW_AT_str_offsets_base */
	XC_DIE_SCAN_LANGUAGE = 1 << 14,
	XC_DIE_SCAN_SIGNATURE = 1 << 15,  /* DW_AT_signature: its definition is in a type unit */
	XC_DIE_SCAN_FAR_ORIGIN = 1 << 16, /* DW_AT_specification or DW_AT_abstract_origin in another unit, */
	XC_DIE_SCAN_ALT_ORIGIN = 1 << 17, /* and that unit is in the file that dwz moved common parts to */
	XC_DIE_SCAN_MACROS = 1 << 18,     /* DW_AT_macros: offset of the unit's macros */
	XC_DIE_SCAN_TYPE = 1 << 19,       /* DW_AT_type of a typedef, inside the unit */
	XC_DIE_SCAN_PLACED = 1 << 20,     /* DW_AT_location is one expression that begins with an address in the file */
};

struct xc_die_scan_entry {
	uint64_t offset; /* in info */
	uint16_t tag;    /* 0: the end of a list of siblings */
	bool children;
	uint32_t has;
	struct xc_die_scan_string name, linkage_name;
	uint64_t sibling, origin, type; /* offsets in info */
	uint64_t size, line, value, str_offsets, language, macros;
};

struct xc_die_scan;

struct xc_die_scan *xc_die_scan_new(const struct xc_die_scan_space *space); /* borrows it */
void xc_die_scan_free(struct xc_die_scan *scan);

/* Read the header at *offset and move *offset past the unit. False at the end, and where the section is damaged.
 * Units of unknown versions or types have type 0 and must be skipped. */
bool xc_die_scan_next_unit(const struct xc_die_scan_space *space, uint64_t *offset, struct xc_die_scan_unit *unit);

/* Start reading a unit's DIEs: compiles its abbreviations, unless the unit before had the same. False when they are
 * damaged or too many. */
bool xc_die_scan_enter(struct xc_die_scan *scan, const struct xc_die_scan_unit *unit);

/* Read the DIE at the reading position, or at an offset inside the unit. The position is then after it: at its first
 * child when it has children. False when the unit is damaged there. */
bool xc_die_scan_next(struct xc_die_scan *scan, struct xc_die_scan_entry *die);
bool xc_die_scan_at(struct xc_die_scan *scan, uint64_t offset, struct xc_die_scan_entry *die);

/* The tag at an offset inside the unit (0: the end of a list, or of the unit) and whether it has children; reads
 * nothing else. False when the unit is damaged there. */
bool xc_die_scan_peek(struct xc_die_scan *scan, uint64_t offset, uint16_t *tag_out, bool *children_out);

/* Move the reading position to an offset in info, anywhere in the unit or at its end; and the position. */
bool xc_die_scan_seek(struct xc_die_scan *scan, uint64_t offset);
uint64_t xc_die_scan_position(const struct xc_die_scan *scan);

/* Skip the children of the DIE just read. */
bool xc_die_scan_leave(struct xc_die_scan *scan, const struct xc_die_scan_entry *die);

/* The string of a strx form with this index, in the current unit. */
struct xc_die_scan_string xc_die_scan_indexed(const struct xc_die_scan *scan, uint64_t index);

/* The bytes of a string; NULL when it is out of bounds or not terminated. Borrowed. */
const char *xc_die_scan_text(const struct xc_die_scan_space *space, struct xc_die_scan_string string, size_t *len_out);

#endif
