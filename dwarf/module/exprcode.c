/* exprcode: the encoding of expressions: DWARF 5, 7.7.1 and table 7.9; GNU's operators: gcc 12, include/dwarf2.def, and
 * the gcc wiki's TypedDWARF and DebugFission. The operands of an operator are a string of letters:
 *
 *  a address   1 2 4 8 unsigned bytes   x y z 1, 2 or 4 signed bytes   u ULEB128   s SLEB128   r offset in .debug_info
 *  b block: ULEB128 and bytes   c block with a length of one byte, which is part of the block */
#include "dwarf/module/exprcode.h"

#include <dwarf.h>

#include "dwarf/elf/take.h"

/* NULL: an unknown operator. */
static const char *operands_of(unsigned atom)
{
	if ((atom >= DW_OP_lit0 && atom <= DW_OP_lit31) || (atom >= DW_OP_reg0 && atom <= DW_OP_reg31))
		return "";
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return "s";
	switch (atom) {
	case DW_OP_deref:
	case DW_OP_dup:
	case DW_OP_drop:
	case DW_OP_over:
	case DW_OP_swap:
	case DW_OP_rot:
	case DW_OP_xderef:
	case DW_OP_abs:
	case DW_OP_and:
	case DW_OP_div:
	case DW_OP_minus:
	case DW_OP_mod:
	case DW_OP_mul:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_xor:
	case DW_OP_eq:
	case DW_OP_ge:
	case DW_OP_gt:
	case DW_OP_le:
	case DW_OP_lt:
	case DW_OP_ne:
	case DW_OP_nop:
	case DW_OP_push_object_address:
	case DW_OP_form_tls_address:
	case DW_OP_call_frame_cfa:
	case DW_OP_stack_value:
	case DW_OP_GNU_push_tls_address:
	case DW_OP_GNU_uninit:
		return "";
	case DW_OP_addr:
		return "a";
	case DW_OP_const1u:
	case DW_OP_pick:
	case DW_OP_deref_size:
	case DW_OP_xderef_size:
		return "1";
	case DW_OP_const1s:
		return "x";
	case DW_OP_const2s:
		return "y";
	case DW_OP_const4s:
		return "z";
	case DW_OP_const2u:
	case DW_OP_bra:
	case DW_OP_skip:
	case DW_OP_call2:
		return "2";
	case DW_OP_const4u:
	case DW_OP_call4:
	case DW_OP_GNU_parameter_ref:
		return "4";
	case DW_OP_const8u:
	case DW_OP_const8s:
		return "8";
	case DW_OP_constu:
	case DW_OP_plus_uconst:
	case DW_OP_regx:
	case DW_OP_piece:
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
	case DW_OP_GNU_convert:
	case DW_OP_GNU_reinterpret:
		return "u";
	case DW_OP_consts:
	case DW_OP_fbreg:
		return "s";
	case DW_OP_bregx:
		return "us";
	case DW_OP_bit_piece:
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		return "uu";
	case DW_OP_deref_type:
	case DW_OP_xderef_type:
	case DW_OP_GNU_deref_type:
		return "1u";
	case DW_OP_call_ref:
	case DW_OP_GNU_variable_value:
		return "r";
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return "rs";
	case DW_OP_implicit_value:
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return "b";
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
		return "uc";
	default:
		return NULL;
	}
}

static bool take_block(struct xc_cursor *c, uint64_t size, Dwarf_Word *bytes_out)
{
	struct xc_cursor block;
	*bytes_out = (uintptr_t)c->at;
	return xc_take_part(c, size, &block);
}

static bool take_signed(struct xc_cursor *c, unsigned size, Dwarf_Word *number)
{
	if (!xc_take_uint(c, size, number))
		return false;
	*number = xc_sign_extend(*number, 8 * size);
	return true;
}

/* One operand; a block's address is stored in *next. */
static bool take_operand(struct xc_exprcode_walk *w, char kind, Dwarf_Word *number, Dwarf_Word *next)
{
	struct xc_cursor *c = &w->c;
	uint64_t length = 0;
	switch (kind) {
	case 'a':
		return xc_take_uint(c, w->address_size, number);
	case 'r':
		return xc_take_uint(c, w->reference_size, number);
	case 'u':
		return xc_take_uleb(c, number);
	case 's':
		return xc_take_sleb(c, (int64_t *)number);
	case 'x':
	case 'y':
	case 'z':
		return take_signed(c, 1U << (kind - 'x'), number);
	case 'b':
		return xc_take_uleb(c, number) && take_block(c, *number, next);
	case 'c':
		length = xc_cursor_left(c) ? *c->at : 0;
		return take_block(c, length + 1, number);
	default:
		return xc_take_uint(c, (size_t)(kind - '0'), number);
	}
}

static bool take_op(struct xc_exprcode_walk *w, Dwarf_Op *op)
{
	Dwarf_Word none;
	*op = (Dwarf_Op){.atom = *w->c.at, .offset = (Dwarf_Word)(w->c.at - w->start)};
	const char *operands = operands_of(op->atom);
	w->c.at++;
	if (!operands || !operands[0])
		return operands;
	return take_operand(w, operands[0], &op->number, &op->number2) &&
	       (!operands[1] || /* the second operand is never a block */
		take_operand(w, operands[1], &op->number2, &none));
}

static struct xc_exprcode_walk begin(Dwarf_CU *cu, const uint8_t *bytes, size_t size)
{
	Dwarf_Half version = 0;
	Dwarf_Die die;
	uint8_t address = 8, offset = 4;
	dwarf_cu_die(cu, &die, &version, NULL, &address, &offset, NULL, NULL);
	struct xc_exprcode_walk w = {.c = xc_cursor(bytes, size, "expression"),
				     .address_size = address,
				     .reference_size = version == 2 ? address : offset,
				     .damaged = size > XC_EXPRCODE_BYTES};
	w.start = w.c.at;
	return w;
}

bool xc_exprcode_begin(Dwarf_Attribute *attr, struct xc_exprcode_walk *walk_out)
{
	Dwarf_Block block;
	if (dwarf_whatform(attr) == DW_FORM_data16 || dwarf_formblock(attr, &block) != 0)
		return false;
	*walk_out = begin(attr->cu, block.data, block.length);
	return true;
}

bool xc_exprcode_next(struct xc_exprcode_walk *w, Dwarf_Op *op_out)
{
	if (w->damaged || xc_cursor_left(&w->c) == 0)
		return false;
	w->damaged = w->count++ >= XC_EXPRCODE_OPS || !take_op(w, op_out);
	return !w->damaged;
}

bool xc_exprcode_sole(Dwarf_Attribute *attr, Dwarf_Op *op_out)
{
	struct xc_exprcode_walk walk;
	return xc_exprcode_begin(attr, &walk) && xc_exprcode_next(&walk, op_out) && xc_cursor_left(&walk.c) == 0;
}

bool xc_exprcode_first(Dwarf_Attribute *attr, Dwarf_Op *op_out)
{
	struct xc_exprcode_walk walk;
	Dwarf_Op rest;
	if (!xc_exprcode_begin(attr, &walk) || !xc_exprcode_next(&walk, op_out))
		return false;
	while (xc_exprcode_next(&walk, &rest))
		;
	return !walk.damaged;
}

bool xc_exprcode_indexed(Dwarf_Attribute *attr, const Dwarf_Op *op, uint64_t *value_out)
{
	Dwarf_Attribute entry;
	switch (op->atom) {
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return dwarf_getlocation_attr(attr, op, &entry) == 0 && dwarf_formaddr(&entry, value_out) == 0;
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return dwarf_getlocation_attr(attr, op, &entry) == 0 && dwarf_formudata(&entry, value_out) == 0;
	default:
		return false;
	}
}

/* The operators are counted first: unreadable expressions take no memory. */
static struct xc_exprcode *decode(struct xc_exprcodes *codes, Dwarf_CU *cu, const uint8_t *bytes, size_t size)
{
	struct xc_exprcode *code = xc_arena_alloc(codes->arena, sizeof *code);
	const struct xc_exprcode_walk first = begin(cu, bytes, size);
	struct xc_exprcode_walk walk = first;
	Dwarf_Op op;
	while (xc_exprcode_next(&walk, &op))
		;
	if (walk.damaged || walk.count == 0)
		return code;
	Dwarf_Op *ops = xc_arena_alloc(codes->arena, walk.count * sizeof *ops);
	*code = (struct xc_exprcode){.ops = ops, .count = walk.count, .size = size};
	walk = first;
	while (xc_exprcode_next(&walk, ops))
		ops++;
	return code;
}

bool xc_exprcode_read(struct xc_exprcodes *codes, Dwarf_CU *unit, const uint8_t *bytes, size_t size,
		      struct xc_exprcode *code_out)
{
	*code_out = (struct xc_exprcode){0};
	if (size == 0)
		return true;
	struct xc_exprcode *code = *xc_pointer_map_at(&codes->map, codes->arena, bytes, NULL);
	if (!code) {
		code = decode(codes, unit, bytes, size);
		*xc_pointer_map_at(&codes->map, codes->arena, bytes, NULL) = code;
	}
	*code_out = *code;
	return code->count > 0 && code->size == size;
}

bool xc_exprcode_of(struct xc_exprcodes *codes, Dwarf_Attribute *attr, struct xc_exprcode *code_out)
{
	Dwarf_Block block;
	return dwarf_whatform(attr) != DW_FORM_data16 && dwarf_formblock(attr, &block) == 0 &&
	       xc_exprcode_read(codes, attr->cu, block.data, block.length, code_out);
}
