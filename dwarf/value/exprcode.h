/* exprcode: the bytes of a location expression, decoded to operators.
 *
 * Decoding is strict: an expression that is cut short, or has an unknown operator, is unreadable as a whole. (libdw
 * 0.188 reads operands past the end of the expression, and does not know DW_OP_GNU_uninit.) */
#ifndef XC_EXPRCODE_H
#define XC_EXPRCODE_H

#include <elfutils/libdw.h>

#include "dwarf/types/type.h"

/* Operands are in the fields that libdw uses, since its dwarf_getlocation_die reads them. Blocks of bytes remain in the
 * file's image:
 *
 *	DW_OP_implicit_value, DW_OP_entry_value   number: length; number2: address of the bytes in this process
 *	DW_OP_const_type                          number: offset of the type; number2: a length byte and the bytes */
struct xc_exprcode {
	const Dwarf_Op *ops;
	size_t count;
	size_t size; /* bytes */
};

/* Decode. The result is remembered by the address of the bytes, which must outlive `types`. False when they cannot be
 * decoded. An empty expression has no operators. */
bool xc_exprcode_read(struct xc_types *types, Dwarf_CU *unit, const uint8_t *bytes, size_t size,
		      struct xc_exprcode *code_out);

/* The address of an operand that is a block of bytes. */
static inline const uint8_t *xc_exprcode_bytes(const Dwarf_Op *op)
{
	return (const uint8_t *)(uintptr_t)op->number2;
}

#endif
