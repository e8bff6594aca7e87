/* length_divisor: back through shifts and multiplications of one register to the subtraction:
 *
 *	mov 0x30(%rsi),%rdi   sub 0x28(%rsi),%rdi   sar $3,%rdi   imul %rax,%rdi   div %rdi */
#include "triage/explain/length_divisor.h"

#include <string.h>

#include "triage/code/cxx_accessor.h"
#include "triage/dataflow/origin.h"

enum { STEPS = 10 };

/* Instruction `at` reads memory, and this is its operand. */
struct read {
	size_t at;
	const struct xc_insn_memory *memory;
};

/* The only instruction that sets the register before `at`; XC_BODY_NONE: there are several, or it is none. */
static long setter(const struct xc_frame_code *s, size_t at, int reg)
{
	struct xc_slice slice;
	if (!xc_frame_code_spend(s))
		return XC_BODY_NONE;
	xc_slice_register(s->body, at, reg, &slice);
	const struct xc_insn *insn = slice.count == 1 ? &s->body->insns[slice.items[0].insn] : NULL;
	bool known = insn && (slice.items[0].kind == XC_DEFINITION_INSN ||
			      (slice.items[0].kind == XC_DEFINITION_UNKNOWN && insn->kind == XC_INSN_OTHER &&
			       insn->writes >> reg & 1));
	return known ? (long)slice.items[0].insn : XC_BODY_NONE;
}

/* The load that the register has its value from, as it is. */
static bool find_load(const struct xc_frame_code *s, size_t at, int reg, struct read *out)
{
	for (unsigned i = 0; i < STEPS; i++) {
		const long set = setter(s, at, reg);
		const struct xc_insn *insn = set < 0 ? NULL : &s->body->insns[set];
		if (insn && insn->kind == XC_INSN_LOAD && !insn->part) {
			*out = (struct read){.at = (size_t)set, .memory = &insn->memory};
			return true;
		}
		if (!insn || insn->kind != XC_INSN_MOVE || insn->part)
			return false;
		at = (size_t)set;
		reg = insn->from;
	}
	return false;
}

/* Does the instruction change only this register, from its own value and no memory: a shift, a multiplication? */
static bool is_scaling(const struct xc_insn *insn, int reg)
{
	uint64_t general = UINT64_C(0xffff);
	return insn->kind == XC_INSN_OTHER && !insn->has_memory && !insn->divides && reg < 16 &&
	       (insn->writes & general) == UINT64_C(1) << reg;
}

/* The minuend and the subtrahend. */
static bool find_difference(const struct xc_frame_code *s, int reg, struct read *end, struct read *begin)
{
	size_t at = s->at;
	for (unsigned i = 0; i < STEPS; i++) {
		const long set = setter(s, at, reg);
		const struct xc_insn *insn = set < 0 ? NULL : &s->body->insns[set];
		if (!insn)
			return false;
		at = (size_t)set;
		if (insn->subtracts && insn->reduced == reg) {
			*begin = (struct read){.at = at, .memory = &insn->memory};
			return find_load(s, at, reg, end) &&
			       (insn->less < 0 ? insn->has_memory : find_load(s, at, insn->less, begin));
		}
		if ((insn->kind == XC_INSN_MOVE || insn->kind == XC_INSN_MULTIPLY) && insn->from >= 0)
			reg = insn->from;
		else if (!is_scaling(insn, reg))
			return false;
	}
	return false;
}

/* Are they equal now? Also where their place is not known. */
static bool may_be_equal(const struct xc_frame_code *s, const struct xc_linear_expr *end,
			 const struct xc_linear_expr *begin, unsigned word)
{
	const struct xc_space *space = s->crash->process->space;
	uint64_t at_end, at_begin, one, other;
	return !xc_origin_value(s, end, &at_end) || !xc_origin_value(s, begin, &at_begin) ||
	       !xc_space_peek_uint(space, at_end, word, &one) || !xc_space_peek_uint(space, at_begin, word, &other) ||
	       one == other;
}

bool xc_length_divisor_find(const struct xc_frame_code *s, int reg, struct xc_symbolic_value *out)
{
	struct xc_arena *arena = &s->crash->report->arena;
	struct xc_symbolic_value object, last, first;
	struct read end, begin;
	unsigned word = s->crash->process->arch->word;
	if (!find_difference(s, reg, &end, &begin) || end.memory->size != word || begin.memory->size != word)
		return false;
	struct xc_linear_expr to = xc_symbolic_value_address(s, end.at, end.memory);
	const struct xc_linear_expr from = xc_symbolic_value_address(s, begin.at, begin.memory);
	if (!to.known || !from.known || !may_be_equal(s, &to, &from, word))
		return false;
	to.constant -= word;
	bool neighbours = xc_linear_expr_same(&to, &from);
	to.constant += word;
	*out = (struct xc_symbolic_value){.kind = XC_SYMBOLIC_UNKNOWN, .at = s->at, .reg = reg};
	if (neighbours && xc_symbolic_value_object(s, begin.at, &from, &object) && object.text && object.type &&
	    xc_cxx_accessor_class(xc_type_strip(object.type)->name))
		out->text = xc_arena_printf(arena, object.text[0] == '*' ? "(%s).size()" : "%s.size()", object.text);
	else if (xc_symbolic_value_place(s, end.at, &to, word, &last) &&
		 xc_symbolic_value_place(s, begin.at, &from, word, &first) && last.text && first.text &&
		 xc_symbolic_value_is_pointer(last.type) && xc_symbolic_value_is_pointer(first.type))
		out->text = xc_arena_printf(arena, "%s - %s", last.text, first.text);
	return out->text != NULL;
}
