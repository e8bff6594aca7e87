/* layout: the offsets of the bytes and bits of a struct, class or union, as a list of rows.
 *
 * Members are sorted by offset, since the Rust compiler reorders fields; those of unions are in source order. An
 * anonymous struct or union is followed by its own members, one level deeper, and an END row; so is a named one on
 * request. A hole is a range that no member of the same struct covers: a member of a base class in the tail padding of
 * another base makes none. Offsets are from the start of the outermost type. */
#ifndef XC_LAYOUT_H
#define XC_LAYOUT_H

#include "dwarf/value/variant.h"

enum { XC_LAYOUT_DEPTH = 16, XC_LAYOUT_ROWS = 1 << 17, XC_CACHELINE = 64 };

enum xc_layout_kind {
	XC_LAYOUT_MEMBER, /* `opens`: its own members follow, and an END row */
	XC_LAYOUT_END,    /* after the members of an expanded member, and of the type itself */
};

/* Unused bits: whole bytes, and the rest of a byte at a bit-field's start or end. */
struct xc_layout_gap {
	uint64_t bytes;
	unsigned bits; /* 0 to 7 */
};

struct xc_layout_row {
	enum xc_layout_kind kind;
	unsigned depth;                 /* 0: a member of the type itself; END rows: that of the members */
	const struct xc_member *member; /* of END rows: the expanded member; NULL for the type itself */
	const struct xc_type *record;   /* the struct that the member belongs to; of END rows: the one that ends */
	bool opens;
	bool in_union;                    /* overlaps its siblings */
	bool is_discriminant;             /* selects the variant */
	const struct xc_variant *variant; /* that contains the member; NULL: none */
	bool placed;                      /* offset is known; false for virtual bases */
	bool size_known;                  /* false for flexible arrays, variable ones and declarations */
	uint64_t offset;                  /* bytes */
	uint64_t size;                    /* bytes; of a bit-field those of its declared type */
	struct xc_layout_gap hole;        /* before a member; of END rows: the padding after the last one */
	unsigned cacheline;               /* number of the cache line that starts after the previous row; 0: none */
	uint64_t line_began;              /* … this many bytes before this row's offset */
};

struct xc_layout {
	const struct xc_type *type; /* stripped and complete */
	bool size_known;
	uint64_t size;
	struct xc_layout_row *rows; /* malloc'ed; the last one is the END of the type */
	size_t row_count, row_capacity;
	/* Totals of the type itself, without the contents of its members. */
	size_t member_count;
	uint64_t member_bytes; /* of members other than bit-fields; more than size in unions */
	uint64_t member_bits;  /* of bit-fields */
	size_t hole_count, bit_hole_count;
	uint64_t hole_bytes, bit_hole_bits;
	struct xc_layout_gap padding;
	bool padding_known; /* false with virtual bases, whose offset is unknown, or `unsized` at the end */
	bool unsized;       /* a member's type has no definition: its size, and a hole after it, are not known */
	bool cut;           /* the type has more than XC_LAYOUT_ROWS rows */
};

struct xc_layout_options {
	unsigned expand;    /* levels of named structs, classes and unions to expand */
	unsigned cacheline; /* bytes; 0: no marks */
};

/* Lay out a struct, class or union (through typedefs and qualifiers; declarations are completed). An incomplete type
 * has only an END row, and size_known is false. False for other types; then there is nothing to release. O(rows). */
bool xc_layout_read(struct xc_layout *layout, const struct xc_type *type, const struct xc_layout_options *options);
void xc_layout_fini(struct xc_layout *layout);

/* `char data[]` at the end of a struct. */
bool xc_layout_is_flexible(const struct xc_type *type);

#endif
