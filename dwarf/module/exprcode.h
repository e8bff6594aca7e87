/* exprcode: the bytes of a location expression, decoded to operators.
 *
 * Every expression is decoded here, none by libdw's dwarf_getlocation: 0.188 reads operands past the end of an
 * expression, does not know DW_OP_GNU_uninit, and keeps the operators of an expression of any length.
 *
 * Decoding is strict: an expression that is cut short, has an unknown operator, or exceeds the limits is unreadable as
 * a whole. Blocks of bytes within it, as in DW_OP_entry_value, are not decoded. */
#ifndef XC_EXPRCODE_H
#define XC_EXPRCODE_H

#include <elfutils/libdw.h>

#include "core/base/cursor.h"
#include "dwarf/elf/pointer_map.h"

/* The limits of one expression: bytes, and operators. One evaluation takes no more steps than this (XC_EXPR_STEPS). */
enum { XC_EXPRCODE_BYTES = 1 << 16, XC_EXPRCODE_OPS = 20000 };

/* A walk over the operators of one expression. It allocates nothing. */
struct xc_exprcode_walk {
	struct xc_cursor c;   /* the bytes after the last operator */
	const uint8_t *start; /* of the expression */
	size_t count;         /* operators read */
	uint8_t address_size, reference_size;
	bool damaged; /* unreadable: the operators before belong to no valid expression */
};

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

/* Expressions that were decoded, by the address of their bytes. `arena` is set by the owner. */
struct xc_exprcodes {
	struct xc_arena *arena;
	struct xc_pointer_map map;
};

/* Begin a walk over the expression of an attribute. False when it is not in a block form: a constant, or a location
 * list. */
bool xc_exprcode_begin(Dwarf_Attribute *attr, struct xc_exprcode_walk *walk_out);

/* The next operator. False at the end, and when the rest is damaged. */
bool xc_exprcode_next(struct xc_exprcode_walk *walk, Dwarf_Op *op_out);

/* The operator of an attribute whose expression has only one. O(1). */
bool xc_exprcode_sole(Dwarf_Attribute *attr, Dwarf_Op *op_out);

/* The first operator of an attribute's expression, which is readable as a whole. */
bool xc_exprcode_first(Dwarf_Attribute *attr, Dwarf_Op *op_out);

/* The entry of .debug_addr that an operator of the attribute names by index: an address of the file for DW_OP_addrx,
 * a number for DW_OP_constx, and for GNU's equivalents. False for other operators, and without such an entry. O(1). */
bool xc_exprcode_indexed(Dwarf_Attribute *attr, const Dwarf_Op *op, uint64_t *value_out);

/* Decode. The result is remembered by the address of the bytes, which must outlive `codes`. False when they cannot be
 * decoded. An empty expression has no operators. */
bool xc_exprcode_read(struct xc_exprcodes *codes, Dwarf_CU *unit, const uint8_t *bytes, size_t size,
		      struct xc_exprcode *code_out);

/* The same for the expression of an attribute. False also when it is not in a block form. */
bool xc_exprcode_of(struct xc_exprcodes *codes, Dwarf_Attribute *attr, struct xc_exprcode *code_out);

/* The address of an operand that is a block of bytes. */
static inline const uint8_t *xc_exprcode_bytes(const Dwarf_Op *op)
{
	return (const uint8_t *)(uintptr_t)op->number2;
}

#endif
