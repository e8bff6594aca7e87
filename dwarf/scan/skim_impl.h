/* skim_impl: what the parts of skim share: compiled abbreviations. */
#ifndef XC_SKIM_IMPL_H
#define XC_SKIM_IMPL_H

#include "dwarf/scan/skim.h"

/* Steps of a program. Operands follow their step, little-endian. */
enum xc_skim_step {
	XC_STEP_END,
	XC_STEP_SKIP,   /* u8: bytes of fixed size */
	XC_STEP_LEB,    /* one LEB128 number */
	XC_STEP_STRING, /* up to and with a NUL */
	XC_STEP_BLOCK1, /* a length of 1, 2, 4 bytes or LEB128, and as many bytes */
	XC_STEP_BLOCK2,
	XC_STEP_BLOCK4,
	XC_STEP_BLOCK,
	XC_STEP_INDIRECT,  /* a form as LEB128, and its value */
	XC_STEP_KEEP,      /* u8 slot, u16 form: read and keep */
	XC_STEP_KEEP_CONST /* u8 slot, u64 value of DW_FORM_implicit_const */
};

enum xc_skim_slot {
	XC_SLOT_NONE,
	XC_SLOT_NAME,
	XC_SLOT_LINKAGE_NAME,
	XC_SLOT_SIBLING,
	XC_SLOT_ORIGIN,
	XC_SLOT_SIZE,
	XC_SLOT_LINE,
	XC_SLOT_VALUE,
	XC_SLOT_CODE,
	XC_SLOT_LOCATION,
	XC_SLOT_EXTERNAL,
	XC_SLOT_DECLARATION,
	XC_SLOT_EXPORTS,
	XC_SLOT_ENUM_CLASS,
	XC_SLOT_STR_OFFSETS,
	XC_SLOT_LANGUAGE,
	XC_SLOT_SIGNATURE,
	XC_SLOT_MACROS,
	XC_SLOT_TYPE, /* of typedefs */
};

struct xc_skim_abbrev {
	uint32_t program; /* offset into the table's steps */
	uint32_t has;     /* facts that need no bytes */
	uint16_t tag;     /* 0: no such code */
	bool children;
};

/* The abbreviations at one offset, for units of one version, address size and offset size. */
struct xc_skim_table {
	bool valid, damaged;
	uint64_t offset;
	uint8_t version, address_size, offset_size;
	struct xc_skim_abbrev *abbrevs; /* by code */
	size_t count, capacity;
	uint8_t *steps;
	size_t step_count, step_capacity;
	uint64_t budget; /* bytes of abbreviations that may still be compiled */
};

/* Make the table that of the unit; false when it is damaged. */
bool xc_skim_compile(struct xc_skim_table *table, const struct xc_skim_space *space, const struct xc_skim_unit *unit);
void xc_skim_table_fini(struct xc_skim_table *table);

/* The step that passes over a form; *size_out gets the bytes of XC_STEP_SKIP. XC_STEP_END for unknown forms. */
enum xc_skim_step xc_skim_step_of(uint64_t form, const struct xc_skim_unit *unit, unsigned *size_out);

struct xc_skim {
	const struct xc_skim_space *space;
	struct xc_skim_table table;
	struct xc_skim_unit unit;
	const uint8_t *at, *end; /* the reading position and the end of the unit */
};

/* Little-endian, of at most 8 bytes. */
static inline uint64_t xc_skim_load(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

/* Keep a value that was read by its form as the fact that `slot` says. `start`: where the value starts; the reading position is
 * behind it. */
void xc_skim_keep(const struct xc_skim *skim, struct xc_skim_die *die, enum xc_skim_slot slot, uint64_t form,
		  uint64_t value, const uint8_t *start);

#endif
