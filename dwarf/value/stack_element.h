/* stack_element: one entry of the DWARF stack: an untyped word, or a value of a base type (DWARF 5, 2.5.1). */
#ifndef XC_STACK_ELEMENT_H
#define XC_STACK_ELEMENT_H

#include "dwarf/types/type.h"

enum xc_stack_element_kind { XC_ELEMENT_GENERIC, XC_ELEMENT_UNSIGNED, XC_ELEMENT_SIGNED, XC_ELEMENT_FLOAT };

struct xc_stack_element {
	unsigned __int128 bits; /* low `size` bytes, the rest zero */
	enum xc_stack_element_kind kind;
	unsigned size; /* bytes, at most 16 */
};

struct xc_stack_element xc_stack_element_word(uint64_t value, unsigned word);

/* An element of a base type; false when the type is not a base type of at most 16 bytes. */
bool xc_stack_element_typed(const struct xc_type *type, unsigned __int128 bits, struct xc_stack_element *out);

/* The unary operators (abs, neg, not), in place, and the binary ones, as below OP top. NULL, or the reason for a
 * failure. */
const char *xc_stack_element_unary(unsigned atom, struct xc_stack_element *element);
const char *xc_stack_element_binary(unsigned atom, const struct xc_stack_element *below,
				    const struct xc_stack_element *top, unsigned word, struct xc_stack_element *out);

/* DW_OP_convert: the same number in the type of `like`, of which only kind and size are used. NULL, or the reason for a
 * failure. */
const char *xc_stack_element_convert(struct xc_stack_element *element, const struct xc_stack_element *like);

#endif
