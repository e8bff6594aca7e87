/* raw: the header and entries of a unit, read without libdw.
 *
 * For checks before libdw may see a unit. All input is untrusted: nothing is read outside the given cursors, and
 * false means that the bytes do not have the form they claim. Spends from the budget (budget.h). Little-endian. */
#ifndef XC_RAW_H
#define XC_RAW_H

#include "core/base/cursor.h"

struct xc_raw_unit {
	uint64_t size;        /* bytes, header included */
	uint64_t abbrev;      /* offset of its abbreviations */
	uint64_t id;          /* signature of a type unit, dwo_id of a skeleton or split unit; 0: not in the header */
	uint64_t type_offset; /* of a type unit */
	uint32_t first;       /* bytes before its first entry */
	uint32_t abbrev_at;   /* offset in the header of its abbreviation offset */
	uint8_t version, type;
	uint8_t address_size, offset_size;
};

/* The header at a cursor; `types`: of .debug_types. False for versions other than 2 to 5 and for truncated headers;
 * size is set as soon as it is known, else 0. */
bool xc_raw_unit_at(struct xc_cursor info, bool types, struct xc_raw_unit *unit_out);

/* Bytes of a form of fixed size in a unit of this version; -1 for the others. */
int xc_raw_form_size(uint64_t form, unsigned version, unsigned address_size, unsigned offset_size);

/* The declaration of an abbreviation code. */
struct xc_raw_abbrev {
	uint64_t code, tag;
	const uint8_t *begin; /* of the declaration */
	bool children;
	struct xc_cursor attributes; /* after tag and children, up to and including the closing pair of zeros */
};

/* Find a code in the table that begins at the cursor. */
bool xc_raw_abbrev_of(struct xc_cursor table, uint64_t code, struct xc_raw_abbrev *abbrev_out);

/* Step to the next declaration. False at the end of the table, where *ended is set, and where the table is damaged. */
bool xc_raw_abbrev_next(struct xc_cursor *table, struct xc_raw_abbrev *abbrev_out, bool *ended);

#define XC_RAW_DAMAGED UINT64_MAX

struct xc_raw_attribute {
	uint64_t name, form;  /* DW_FORM_indirect is resolved */
	int64_t constant;     /* of DW_FORM_implicit_const */
	const uint8_t *spec;  /* the pair in the declaration */
	const uint8_t *value; /* in the entry */
	size_t size;
};

/* Take the next attribute of an entry, from its declaration and its bytes. False at the end, where name is 0, and
 * when damaged, where name is XC_RAW_DAMAGED. */
bool xc_raw_attribute_next(const struct xc_raw_unit *unit, struct xc_cursor *attributes, struct xc_cursor *entry,
			   struct xc_raw_attribute *attribute_out);

/* Go to a unit's first entry. `entry`, at the unit's header, moves behind the entry's code. `table`, at the origin of
 * the header's abbreviation offset, moves to the unit's abbreviations. */
bool xc_raw_unit_entry(const struct xc_raw_unit *unit, struct xc_cursor *entry, struct xc_cursor *table,
		       struct xc_raw_abbrev *abbrev_out);

/* The plain number of a constant, a flag, an offset or an index; false for other forms. */
bool xc_raw_number(const struct xc_raw_attribute *attribute, uint64_t *number_out);

#endif
