/* constant_expr: evaluated as it is decoded, on a small stack of words (DWARF 5, 2.5.1). dwarf/value evaluates
 * expressions of any kind. */
#include "dwarf/unwind/constant_expr.h"

#include <dwarf.h>

#include "dwarf/module/exprcode.h"

enum { MAX_DEPTH = 16 };

struct stack {
	const struct xc_process *process;
	const struct xc_module *module;
	Dwarf_Attribute *attr;
	struct xc_exprcode_walk code;
	uint64_t words[MAX_DEPTH];
	size_t depth;
};

static bool push(struct stack *s, uint64_t value)
{
	if (s->depth == MAX_DEPTH)
		return false;
	s->words[s->depth++] = xc_arch_wrap(s->process->arch, value);
	return true;
}

static bool push_address(struct stack *s, uint64_t file_addr)
{
	return s->module->bias_known && push(s, file_addr + s->module->bias);
}

/* Push an entry of .debug_addr: an address, or a constant for constx. */
static bool push_indexed(struct stack *s, const Dwarf_Op *op)
{
	uint64_t value;
	if (!xc_exprcode_indexed(s->attr, op, &value))
		return false;
	bool constant = op->atom == DW_OP_constx || op->atom == DW_OP_GNU_const_index;
	return constant ? push(s, value) : push_address(s, value);
}

static int64_t extended(const struct stack *s, uint64_t value)
{
	return s->process->arch->word == 4 ? (int32_t)value : (int64_t)value;
}

static bool binary(struct stack *s, unsigned atom)
{
	if (s->depth < 2)
		return false;
	uint64_t b = s->words[--s->depth], a = s->words[--s->depth];
	switch (atom) {
	case DW_OP_and:
		return push(s, a & b);
	case DW_OP_or:
		return push(s, a | b);
	case DW_OP_xor:
		return push(s, a ^ b);
	case DW_OP_plus:
		return push(s, a + b);
	case DW_OP_minus:
		return push(s, a - b);
	case DW_OP_mul:
		return push(s, a * b);
	case DW_OP_shl:
		return push(s, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(s, b < 64 ? a >> b : 0);
	case DW_OP_shra:
		return push(s, (uint64_t)(extended(s, a) >> (b < 63 ? b : 63)));
	default:
		return false;
	}
}

/* Operators that compute with the top of the stack, or copy it. */
static bool unary(struct stack *s, const Dwarf_Op *op)
{
	if (s->depth == 0)
		return false;
	uint64_t top = s->words[s->depth - 1];
	switch (op->atom) {
	case DW_OP_dup:
		return push(s, top);
	case DW_OP_neg:
		s->depth--;
		return push(s, -top);
	case DW_OP_not:
		s->depth--;
		return push(s, ~top);
	case DW_OP_plus_uconst:
		s->depth--;
		return push(s, top + op->number);
	case DW_OP_stack_value:
		return xc_cursor_left(&s->code.c) == 0;
	default:
		return binary(s, op->atom);
	}
}

static bool step(struct stack *s, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(s, (uint64_t)(op->atom - DW_OP_lit0));
	switch (op->atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(s, op->number);
	case DW_OP_addr:
		return push_address(s, op->number);
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		return push_indexed(s, op);
	default:
		return unary(s, op);
	}
}

bool xc_constant_expr(const struct xc_process *process, const struct xc_module *module, Dwarf_Attribute *attr,
		      uint64_t *value_out)
{
	struct stack s = {.process = process, .module = module, .attr = attr};
	Dwarf_Op op;
	if (!xc_exprcode_begin(attr, &s.code))
		return false;
	while (xc_exprcode_next(&s.code, &op))
		if (!step(&s, &op))
			return false;
	if (s.code.damaged || s.depth == 0)
		return false;
	*value_out = s.words[s.depth - 1];
	return true;
}
