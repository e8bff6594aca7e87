/* constant_expr: evaluated as it is read, on a small stack of words (DWARF 5, 2.5.1). dwarf/value evaluates expressions
 * of any kind. libdw does not decode them: 0.188 reads operands past the end of an expression, and has no limit. */
#include "dwarf/unwind/constant_expr.h"

#include <dwarf.h>

#include "dwarf/elf/take.h"

enum { MAX_DEPTH = 16, MAX_BYTES = 256 };

struct stack {
	const struct xc_process *process;
	const struct xc_module *module;
	Dwarf_Attribute *attr;
	struct xc_cursor code;
	uint8_t address_size;
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

static bool push_constant(struct stack *s, size_t size, bool is_signed)
{
	uint64_t value;
	unsigned unused = 64 - 8 * (unsigned)size;
	if (!xc_take_uint(&s->code, size, &value))
		return false;
	return push(s, is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value);
}

static bool push_address(struct stack *s, uint64_t file_addr)
{
	return s->module->bias_known && push(s, file_addr + s->module->bias);
}

/* Push an entry of .debug_addr: an address, or a constant for constx. */
static bool push_indexed(struct stack *s, uint8_t atom)
{
	Dwarf_Op op = {.atom = atom};
	Dwarf_Attribute entry;
	Dwarf_Addr value;
	uint64_t index;
	if (!xc_take_uleb(&s->code, &index))
		return false;
	op.number = index;
	if (dwarf_getlocation_attr(s->attr, &op, &entry) != 0)
		return false;
	if (atom == DW_OP_constx || atom == DW_OP_GNU_const_index)
		return dwarf_formudata(&entry, &value) == 0 && push(s, value);
	return dwarf_formaddr(&entry, &value) == 0 && push_address(s, value);
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
static bool unary(struct stack *s, uint8_t atom)
{
	uint64_t operand = 0;
	if (s->depth == 0 || (atom == DW_OP_plus_uconst && !xc_take_uleb(&s->code, &operand)))
		return false;
	uint64_t top = s->words[s->depth - 1];
	switch (atom) {
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
		return push(s, top + operand);
	case DW_OP_stack_value:
		return xc_cursor_left(&s->code) == 0;
	default:
		return binary(s, atom);
	}
}

static bool step(struct stack *s)
{
	const uint8_t atom = *s->code.at++;
	uint64_t value;
	int64_t number;
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(s, (uint64_t)(atom - DW_OP_lit0));
	switch (atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
		return push_constant(s, 1, atom == DW_OP_const1s);
	case DW_OP_const2u:
	case DW_OP_const2s:
		return push_constant(s, 2, atom == DW_OP_const2s);
	case DW_OP_const4u:
	case DW_OP_const4s:
		return push_constant(s, 4, atom == DW_OP_const4s);
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push_constant(s, 8, false);
	case DW_OP_constu:
		return xc_take_uleb(&s->code, &value) && push(s, value);
	case DW_OP_consts:
		return xc_take_sleb(&s->code, &number) && push(s, (uint64_t)number);
	case DW_OP_addr:
		return xc_take_uint(&s->code, s->address_size, &value) && push_address(s, value);
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		return push_indexed(s, atom);
	default:
		return unary(s, atom);
	}
}

bool xc_constant_expr(const struct xc_process *process, const struct xc_module *module, Dwarf_Attribute *attr,
		      uint64_t *value_out)
{
	struct stack s = {.process = process, .module = module, .attr = attr, .address_size = 8};
	Dwarf_Block block;
	Dwarf_Die unit;
	if (dwarf_whatform(attr) == DW_FORM_data16 || dwarf_formblock(attr, &block) != 0 || block.length > MAX_BYTES ||
	    !dwarf_cu_die(attr->cu, &unit, NULL, NULL, &s.address_size, NULL, NULL, NULL))
		return false;
	s.code = xc_cursor(block.data, block.length, "expression");
	while (xc_cursor_left(&s.code))
		if (!step(&s))
			return false;
	if (s.depth == 0)
		return false;
	*value_out = s.words[s.depth - 1];
	return true;
}
