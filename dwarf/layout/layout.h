/* layout: where the bytes and bits of a struct, class or union lie, as a list of rows.
 *
 * Members come in the order of their place (the compiler of Rust lays fields out in another order than the source's);
 * those of unions in the order of the source. Anonymous structs and unions are followed by their own members, one level
 * deeper, and an END row; named ones when asked for. Holes are what no member of the same struct covers: a member of a
 * base class in the tail of another does not make one. Offsets count from the start of the outermost type. */
#ifndef XC_LAYOUT_H
#define XC_LAYOUT_H

#include "dwarf/value/variant.h"

enum { XC_LAYOUT_DEPTH = 16, XC_LAYOUT_ROWS = 1 << 17, XC_CACHELINE = 64 };

enum xc_layout_kind {
	XC_LAYOUT_MEMBER, /* `opens`: its own members follow, and an END row */
	XC_LAYOUT_END,    /* of an expanded member, and of the type itself */
};

/* Unused bits: whole bytes, and the rest of a byte that a bit-field began or ends in. */
struct xc_layout_gap {
	uint64_t bytes;
	unsigned bits; /* 0 to 7 */
};

struct xc_layout_row {
	enum xc_layout_kind kind;
	unsigned depth;                 /* 0: a member of the type itself; END rows have that of the members they end */
	const struct xc_member *member; /* of END rows the one that ends; NULL for the type itself */
	const struct xc_type *record;   /* what the member belongs to; of END rows what ends */
	bool opens;
	bool in_union;                    /* shares its place with its siblings */
	bool is_discriminant;             /* tells which variant there is */
	const struct xc_variant *variant; /* that the member is part of; NULL for others */
	bool placed;                      /* offset is known; false for virtual bases */
	bool size_known;                  /* false for flexible arrays, variable ones and declarations */
	uint64_t offset;                  /* bytes */
	uint64_t size;                    /* bytes; of a bit-field those of its declared type */
	struct xc_layout_gap hole;        /* before a member; of END rows the padding behind the last one */
	unsigned cacheline;               /* number of the cache line that began since the row before; 0: none did */
	uint64_t line_began;              /* … that many bytes before this row's offset */
};

struct xc_layout {
	const struct xc_type *type; /* stripped and complete */
	bool size_known;
	uint64_t size;
	struct xc_layout_row *rows; /* malloc'ed; the last one is the END of the type */
	size_t row_count, row_capacity;
	/* Of the type itself, not of what is inside its members. */
	size_t member_count;
	uint64_t member_bytes; /* of members that are no bit-fields; more than size in unions */
	uint64_t member_bits;  /* of bit-fields */
	size_t hole_count, bit_hole_count;
	uint64_t hole_bytes, bit_hole_bits;
	struct xc_layout_gap padding;
	bool padding_known; /* false with virtual bases, whose place is in no debug information, and with `unsized` last */
	bool unsized;       /* a member's type is nowhere defined: what it covers is not known, nor a hole behind it */
	bool cut;           /* there are more than XC_LAYOUT_ROWS rows */
};

struct xc_layout_options {
	unsigned expand;    /* levels of named structs, classes and unions to look into */
	unsigned cacheline; /* bytes; 0: no marks */
};

/* Lay out a struct, class or union (through typedefs and qualifiers; declarations are completed). The result
 * may have no rows but END: for an incomplete type size_known is false. False, and nothing to release, for other
 * types. O(rows). */
bool xc_layout_read(struct xc_layout *layout, const struct xc_type *type, const struct xc_layout_options *options);
void xc_layout_fini(struct xc_layout *layout);

/* `char data[]` at the end of a struct. */
bool xc_layout_is_flexible(const struct xc_type *type);

/* True for structs, classes and unions, through typedefs and qualifiers. */
bool xc_layout_is_record(const struct xc_type *type);

#endif
