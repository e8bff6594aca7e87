/* exprcode: the encoding of expressions: DWARF 5, 7.7.1 and table 7.9; GNU's operators: gcc 12, include/dwarf2.def, and
 * the gcc wiki's TypedDWARF and DebugFission. The operands of an operator are a string of letters:
 *
 *	a address   1 2 4 8 unsigned bytes   u ULEB128   s SLEB128   r offset in .debug_info
 *	b block: ULEB128 and bytes   c block with a length of one byte, which is part of the block */
#include "dwarf/value/exprcode.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"

enum { MAX_OPS = 1 << 16 };

struct unit {
	unsigned address_size, reference_size;
};

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
	case DW_OP_const1s:
	case DW_OP_pick:
	case DW_OP_deref_size:
	case DW_OP_xderef_size:
		return "1";
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_bra:
	case DW_OP_skip:
	case DW_OP_call2:
		return "2";
	case DW_OP_const4u:
	case DW_OP_const4s:
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

static struct xc_error *take_block(struct xc_cursor *c, uint64_t size, Dwarf_Word *bytes_out)
{
	*bytes_out = (uintptr_t)c->at;
	return xc_cursor_skip(c, (size_t)size);
}

/* One operand; a block's address is stored in *next. */
static struct xc_error *take_operand(const struct unit *unit, struct xc_cursor *c, char kind, Dwarf_Word *number,
				     Dwarf_Word *next)
{
	uint64_t length = 0;
	struct xc_error *err;
	switch (kind) {
	case 'a':
		return xc_cursor_uint(c, unit->address_size, number);
	case 'r':
		return xc_cursor_uint(c, unit->reference_size, number);
	case 'u':
		return xc_cursor_uleb(c, number);
	case 's':
		return xc_cursor_sleb(c, (int64_t *)number);
	case 'b':
		err = xc_cursor_uleb(c, number);
		return err ? err : take_block(c, *number, next);
	case 'c':
		length = xc_cursor_left(c) ? *c->at : 0;
		return take_block(c, length + 1, number);
	default:
		return xc_cursor_uint(c, (size_t)(kind - '0'), number);
	}
}

static bool take_op(const struct unit *unit, struct xc_cursor *c, const uint8_t *start, Dwarf_Op *op)
{
	*op = (Dwarf_Op){.atom = *c->at, .offset = (Dwarf_Word)(c->at - start)};
	const char *operands = operands_of(op->atom);
	struct xc_error *err = NULL;
	Dwarf_Word none;
	c->at++;
	if (operands && operands[0])
		err = take_operand(unit, c, operands[0], &op->number, &op->number2);
	if (!err && operands && operands[0] && operands[1])
		err = take_operand(unit, c, operands[1], &op->number2, &none); /* the second operand is never a block */
	xc_error_free(err);
	return operands && !err;
}

static struct unit unit_of(Dwarf_CU *cu)
{
	Dwarf_Half version = 0;
	Dwarf_Die die;
	uint8_t address = 8, offset = 4;
	dwarf_cu_die(cu, &die, &version, NULL, &address, &offset, NULL, NULL);
	return (struct unit){.address_size = address, .reference_size = version == 2 ? address : offset};
}

/* Every operator has at least one byte, so there are no more operators than bytes. */
static struct xc_exprcode *decode(struct xc_types *types, Dwarf_CU *cu, const uint8_t *bytes, size_t size)
{
	struct xc_exprcode *code = xc_arena_alloc(types->arena, sizeof *code);
	struct unit unit = unit_of(cu);
	Dwarf_Op *ops = NULL;
	size_t count = 0, capacity = 0;
	bool good = size <= MAX_OPS;
	struct xc_cursor c = xc_cursor(bytes, size, "expression");
	for (; good && xc_cursor_left(&c); count += good) {
		ops = xc_grow(ops, count, &capacity, sizeof *ops);
		good = take_op(&unit, &c, bytes, &ops[count]);
	}
	if (good && count) {
		Dwarf_Op *kept = xc_arena_alloc(types->arena, count * sizeof *kept);
		memcpy(kept, ops, count * sizeof *kept);
		*code = (struct xc_exprcode){.ops = kept, .count = count, .size = size};
	}
	free(ops);
	return code;
}

bool xc_exprcode_read(struct xc_types *types, Dwarf_CU *unit, const uint8_t *bytes, size_t size,
		      struct xc_exprcode *code_out)
{
	*code_out = (struct xc_exprcode){0};
	if (size == 0)
		return true;
	struct xc_exprcode *code = *xc_pointer_map_at(&types->codes, types->arena, bytes, NULL);
	if (!code) {
		code = decode(types, unit, bytes, size);
		*xc_pointer_map_at(&types->codes, types->arena, bytes, NULL) = code;
	}
	*code_out = *code;
	return code->count > 0 && code->size == size;
}
