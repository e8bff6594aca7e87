/* layout_difference: where two definitions of a class put the same member at different places, or hold different things
 * there. */
#ifndef XC_LAYOUT_DIFFERENCE_H
#define XC_LAYOUT_DIFFERENCE_H

#include "dwarf/types/type.h"

struct xc_layout_difference {
	const char *member; /* the first on which they differ; NULL: only the sizes differ, or a base class */
	const char *base;   /* a base class that only one of them has; else NULL */
	bool moved;         /* the member is elsewhere; false: it is something else */
	uint64_t from;      /* bytes from the start of an object: before it they agree */
	uint64_t size, other_size;
};

/* Compare two complete classes. Different names for what is at the same place do not count, nor do static members and
 * methods. False when their objects look the same. */
bool xc_layout_difference_find(const struct xc_type *type, const struct xc_type *other,
			       struct xc_layout_difference *out);

/* Append the names of members of `other` that the class does not have, at most three: "`hits`, `served`". Returns how
 * many there are in all. */
size_t xc_layout_difference_extra(const struct xc_type *type, const struct xc_type *other, struct xc_text *text);

#endif
