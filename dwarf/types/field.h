/* field: the path to an offset in a type, as source writes it: ".headers_out.location", "[3].name". */
#ifndef XC_FIELD_H
#define XC_FIELD_H

#include "core/base/text.h"
#include "dwarf/types/type.h"

/* Append the path to the innermost member or element of `type` that holds the byte at offset; nothing when there is
 * none. Base classes and anonymous members add no name. Of a union's members the one with a pointer that begins there
 * is taken, else the first with anything that begins there, else the first that extends to it. Returns the type at
 * the end of the path (typedefs kept), or `type` itself when nothing was appended; *rest_out (may be NULL) gets the
 * distance in bytes from its start to offset. text may be NULL, to get the type alone. Takes at most XC_FIELD_STEPS
 * steps, including those that compare members of unions. */
enum { XC_FIELD_STEPS = 1000 };

const struct xc_type *xc_field_path(struct xc_text *text, const struct xc_type *type, uint64_t offset,
				    uint64_t *rest_out);

/* One step of a path: the member or element of `type` that holds the byte at offset. */
struct xc_field_step {
	const struct xc_type *type; /* of the member or element */
	uint64_t offset;            /* in it */
	const char *name;           /* of a member; NULL: nameless, or a base class */
	bool is_element;
	uint64_t index;
};
bool xc_field_step(const struct xc_type *type, uint64_t offset, struct xc_field_step *out);

#endif
