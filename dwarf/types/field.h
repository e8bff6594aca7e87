/* field: what lies at an offset in a type, the way source writes it: ".headers_out.location", "[3].name". */
#ifndef XC_FIELD_H
#define XC_FIELD_H

#include "core/base/text.h"
#include "dwarf/types/type.h"

/* Append the path to the innermost member or element of `type` that holds the byte at offset; nothing when there is none. Base
 * classes and anonymous members are passed through without a name. Of a union's members the one with a pointer that begins there is taken,
 * else the first with anything that does, else the first that reaches so far. Returns the type of what the path leads to (typedefs
 * kept), `type` itself when nothing was appended; *rest_out (may be NULL) gets the bytes from its beginning to offset. text may be
 * NULL, for the type alone. At most XC_FIELD_STEPS steps, those aside into unions included. */
enum { XC_FIELD_STEPS = 1000 };

const struct xc_type *xc_field_path(struct xc_text *text, const struct xc_type *type, uint64_t offset,
				    uint64_t *rest_out);

/* One step of that: the member or element of `type` that holds the byte at offset. */
struct xc_field_step {
	const struct xc_type *type; /* of the member or element */
	uint64_t offset;            /* in it */
	const char *name;           /* of a member; NULL: nameless, or a base class */
	bool is_element;
	uint64_t index;
};
bool xc_field_step(const struct xc_type *type, uint64_t offset, struct xc_field_step *out);

#endif
