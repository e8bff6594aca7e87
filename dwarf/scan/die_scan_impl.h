/* die_scan_impl: compiled abbreviations, shared by the files of die_scan. */
#ifndef XC_DIE_SCAN_IMPL_H
#define XC_DIE_SCAN_IMPL_H

#include "dwarf/scan/die_scan.h"

/* Steps of a program. Operands follow their step, little-endian. */
enum xc_die_scan_step {
	XC_DIE_STEP_END,
	XC_DIE_STEP_SKIP,   /* u8: bytes of fixed size */
	XC_DIE_STEP_LEB,    /* one LEB128 number */
	XC_DIE_STEP_STRING, /* up to and including a NUL */
	XC_DIE_STEP_BLOCK1, /* a length of 1, 2, 4 bytes or LEB128, and that many bytes */
	XC_DIE_STEP_BLOCK2,
	XC_DIE_STEP_BLOCK4,
	XC_DIE_STEP_BLOCK,
	XC_DIE_STEP_INDIRECT,  /* a form as LEB128, then its value */
	XC_DIE_STEP_KEEP,      /* u8 slot, u16 form: read and keep */
	XC_DIE_STEP_KEEP_CONST /* u8 slot, u64 value of DW_FORM_implicit_const */
};

enum xc_die_scan_slot {
	XC_DIE_SLOT_NONE,
	XC_DIE_SLOT_NAME,
	XC_DIE_SLOT_LINKAGE_NAME,
	XC_DIE_SLOT_SIBLING,
	XC_DIE_SLOT_ORIGIN,
	XC_DIE_SLOT_SIZE,
	XC_DIE_SLOT_LINE,
	XC_DIE_SLOT_VALUE,
	XC_DIE_SLOT_CODE,
	XC_DIE_SLOT_LOCATION,
	XC_DIE_SLOT_EXTERNAL,
	XC_DIE_SLOT_DECLARATION,
	XC_DIE_SLOT_EXPORTS,
	XC_DIE_SLOT_ENUM_CLASS,
	XC_DIE_SLOT_STR_OFFSETS,
	XC_DIE_SLOT_LANGUAGE,
	XC_DIE_SLOT_SIGNATURE,
	XC_DIE_SLOT_MACROS,
	XC_DIE_SLOT_TYPE, /* of typedefs */
};

struct xc_die_scan_abbrev {
	uint32_t program; /* offset into the table's steps */
	uint32_t has;     /* facts that take no bytes */
	uint16_t tag;     /* 0: no such code */
	bool children;
};

/* The abbreviations at one offset, for units of one version, address size and offset size. */
struct xc_die_scan_table {
	bool valid, damaged;
	uint64_t offset;
	uint8_t version, address_size, offset_size;
	struct xc_die_scan_abbrev *abbrevs; /* by code */
	size_t count, capacity;
	uint8_t *steps;
	size_t step_count, step_capacity;
	uint64_t budget; /* bytes of abbreviations that may still be compiled */
};

/* Make the table that of the unit; false when its abbreviations are damaged. */
bool xc_die_scan_compile(struct xc_die_scan_table *table, const struct xc_die_scan_space *space,
			 const struct xc_die_scan_unit *unit);
void xc_die_scan_table_fini(struct xc_die_scan_table *table);

/* The step that skips a form; *size_out gets the bytes of XC_DIE_STEP_SKIP. XC_DIE_STEP_END for unknown forms. */
enum xc_die_scan_step xc_die_scan_step_of(uint64_t form, const struct xc_die_scan_unit *unit, unsigned *size_out);

struct xc_die_scan {
	const struct xc_die_scan_space *space;
	struct xc_die_scan_table table;
	struct xc_die_scan_unit unit;
	const uint8_t *at, *end; /* the reading position and the end of the unit */
};

/* A little-endian number of at most 8 bytes. */
static inline uint64_t xc_die_scan_load(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

/* Keep a value, read by its form, in the fact that `slot` selects. `start`: the start of the value; the reading
 * position is after it. */
void xc_die_scan_keep(const struct xc_die_scan *scan, struct xc_die_scan_entry *die, enum xc_die_scan_slot slot,
		      uint64_t form, uint64_t value, const uint8_t *start);

#endif
