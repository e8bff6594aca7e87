/* layout_text: a type as C-like text, with the place of each member in a comment on its left:
 *
 *	offset     size
 *	                   struct tuv {
 *	     0        4        int a;
 *	                       XXX 4-byte hole
 *	     8:0  3 bits       unsigned int b : 3;
 */
#ifndef XC_LAYOUT_TEXT_H
#define XC_LAYOUT_TEXT_H

#include "dwarf/layout/layout.h"

struct xc_layout_shown {
	struct xc_layout_options layout;
	bool methods;
	bool brief; /* of a typedef of a named type: only the typedef */
};

/* Append the type's declaration. Of a typedef: the whole chain, then its final target. Of pointers, arrays and
 * references: their name, then their final target. Structs have their layout and sums, enums their values. Lines end
 * with newlines; names are as in the debug information (not escaped). */
void xc_layout_text(struct xc_text *text, const struct xc_type *type, const struct xc_layout_shown *shown);

/* The kind of a type: "struct", "class", "union", "enum", "typedef", "pointer", …. */
const char *xc_layout_kind_name(const struct xc_type *type);

/* The type below typedefs, qualifiers, pointers, references and arrays, if it is a struct, class, union or enum;
 * completed. NULL for other types. */
const struct xc_type *xc_layout_body(const struct xc_type *type);

#endif
