/* exprcode: the bytes of a location expression decoded to operators, strictly: what is cut short, and operators whose operands are
 * not known, make the whole unreadable. (libdw 0.188 reads operands beyond the expression's end, and does not know
 * DW_OP_GNU_uninit.) */
#ifndef XC_EXPRCODE_H
#define XC_EXPRCODE_H

#include <elfutils/libdw.h>

#include "dwarf/types/type.h"

/* Operands are where libdw puts them (its dwarf_getlocation_die is used); those that are bytes stand as they are in the file:
 *
 *	DW_OP_implicit_value, DW_OP_entry_value   number: how many bytes; number2: their address in our memory
 *	DW_OP_const_type                          number: the type's offset; number2: address of a length byte and the bytes */
struct xc_exprcode {
	const Dwarf_Op *ops;
	size_t count;
	size_t size; /* bytes */
};

/* Decode; remembered by the address of the bytes, which must outlive `types`. False when they cannot be read. An empty expression
 * has no operators. */
bool xc_exprcode_read(struct xc_types *types, Dwarf_CU *unit, const uint8_t *bytes, size_t size,
		      struct xc_exprcode *code_out);

/* The address that an operand of bytes gives. */
static inline const uint8_t *xc_exprcode_bytes(const Dwarf_Op *op)
{
	return (const uint8_t *)(uintptr_t)op->number2;
}

#endif
