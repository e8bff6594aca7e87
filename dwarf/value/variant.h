/* variant: the active variant of a value: enums of Rust, variant records of Ada and Pascal (DWARF 5, 5.7.10).
 *
 * A variant part holds variants, of which a value has one; a discriminant in the value selects it. rustc describes each
 * variant as one member with the variant's name, whose type is a struct of its fields (__0, __1 … for tuples). One
 * variant may have no discriminant of its own (a niche: the discriminant is then a pointer or integer of that variant).
 * It is active when no other variant is. */
#ifndef XC_VARIANT_H
#define XC_VARIANT_H

#include "dwarf/value/value.h"

/* Discriminants from lo to hi, inclusive, as the bits in the value. */
struct xc_variant_range {
	unsigned __int128 lo, hi;
};

struct xc_variant {
	const struct xc_variant_range *ranges;
	size_t range_count;
	bool is_default;                 /* active when no other fits */
	bool is_unknown;                 /* its discriminants have a form that is not supported */
	const struct xc_member *members; /* of the object */
	size_t count;
};

struct xc_variant_part {
	bool has_discriminant; /* false: there is only one variant, or nothing selects it */
	struct xc_member discriminant;
	const struct xc_variant *variants;
	size_t count;
};

/* The first variant part of a struct; NULL when it has none. Read on the first call. */
const struct xc_variant_part *xc_variant_part_of(const struct xc_type *type);

/* The active variant of a value. NULL when it is not known: then the reason is appended to `why` (may be NULL), for
 * example that the discriminant cannot be read or is none of those in the type. */
const struct xc_variant *xc_variant_of(const struct xc_value *value, struct xc_text *why);

/* The member that is the active variant of a Rust enum; NULL when it is not known, or the type is not by rustc. */
const struct xc_member *xc_variant_member(const struct xc_value *value, struct xc_text *why);

#endif
