/* variant: which of its shapes a value has: enums of Rust, variant records of Ada and Pascal (DWARF 5, 5.7.10).
 *
 * A variant part holds variants, of which a value has one; a discriminant in the value tells which. rustc makes each
 * variant one member, named as the variant, whose type is a struct of its fields (__0, __1 … for tuples). The
 * variant without values of its own (a niche: the discriminant is then some pointer or integer of that variant) is the
 * one that is there when no other is. */
#ifndef XC_VARIANT_H
#define XC_VARIANT_H

#include "dwarf/value/value.h"

/* Discriminants from lo to hi, as the bits that stand in the value. */
struct xc_variant_range {
	unsigned __int128 lo, hi;
};

struct xc_variant {
	const struct xc_variant_range *ranges;
	size_t range_count;
	bool is_default;                 /* when no other fits */
	bool is_unknown;                 /* its values are told in a way that we do not read */
	const struct xc_member *members; /* of the object */
	size_t count;
};

struct xc_variant_part {
	bool has_discriminant; /* false: told by nothing, or there is but one variant */
	struct xc_member discriminant;
	const struct xc_variant *variants;
	size_t count;
};

/* The variant part of a struct; NULL when it has none (of several the first counts). Read when first asked for. */
const struct xc_variant_part *xc_variant_part_of(const struct xc_type *type);

/* The variant that a value of a type with variants has. NULL when it is not known: then `why` (may be NULL) gets the reason:
 * that the discriminant cannot be read, or is none of those that the type knows. */
const struct xc_variant *xc_variant_of(const struct xc_value *value, struct xc_text *why);

/* Of an enum of Rust: the member that is the variant; NULL when the variant is not known, or not made by rustc. */
const struct xc_member *xc_variant_member(const struct xc_value *value, struct xc_text *why);

#endif
