/* passed_argument: see passed_argument.h. */
#include "triage/libc/passed_argument.h"

#include "triage/code/body_cache.h"
#include "triage/code/slice.h"
#include "triage/dataflow/argument.h"

enum { REGISTERS = 6, FLOATS = 8 /* registers, too */ };

static const int registers[REGISTERS] = {5, 4, 1, 2, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

bool xc_passed_argument_value(const struct xc_crash_context *crash, size_t frame, size_t first,
			      const struct xc_conversion *c, uint64_t *value_out)
{
	const struct xc_process *p = crash->process;
	const size_t number = first + c->argument;
	uint64_t sp;
	if (!c->known)
		return false;
	if (number < REGISTERS)
		return xc_argument_find(crash, frame, (unsigned)number, value_out);
	return c->floats <= FLOATS && !crash->frames[frame].tail_call &&
	       xc_regs_get(&crash->frames[frame].regs, p->arch->sp, &sp) &&
	       xc_space_peek_uint(p->space, sp + 8 * (number - REGISTERS), 8, value_out);
}

bool xc_passed_argument_variadic(const struct xc_crash_context *crash, size_t frame)
{
	const struct xc_place *place = xc_crash_context_place(crash, frame);
	if (!place->level_count || place->line_only)
		return true;
	const struct xc_type *type =
		xc_type_get(xc_types_of(crash->process), &place->levels[place->level_count - 1].die);
	return !type || type->kind != XC_TYPE_FUNCTION || type->is_variadic;
}

/* Was the register meant for a parameter of the frame's function, of a type that the conversion may take? */
static bool is_parameter(const struct xc_frame_code *code, size_t number, bool bad)
{
	const struct xc_frame_context in = xc_crash_context_frame(code->crash, code->frame);
	struct xc_named_value *values;
	size_t words = 0;
	if (!in.place->level_count || in.place->line_only)
		return true;
	size_t count = xc_variable_values(&in, in.place->level_count - 1, false, &code->crash->report->arena, &values);
	for (size_t i = 0; i < count; i++) {
		const struct xc_type *type = values[i].value.type ? xc_type_strip(values[i].value.type) : NULL;
		uint64_t size;
		if (words == number && bad && type && type->kind == XC_TYPE_INT)
			return false;
		words += type && xc_type_size(type, &size) && size > 8 && size <= 16 ? 2 : 1;
	}
	return number < words;
}

/* Code that was not optimized loads an argument into a register that is free, and moves it on. */
static bool is_moved_on(const struct xc_frame_code *code, size_t from, int reg)
{
	for (size_t i = from + 1; i < code->at; i++) {
		const struct xc_insn *insn = &code->body->insns[i];
		if (insn->kind == XC_INSN_MOVE && insn->from == reg)
			for (size_t n = 0; n < REGISTERS; n++)
				if (insn->to == registers[n])
					return true;
	}
	return false;
}

bool xc_passed_argument_unset(const struct xc_frame_code *code, size_t number, bool bad)
{
	struct xc_slice slice;
	xc_slice_register(code->body, code->at, registers[number], &slice);
	for (size_t i = 0; i < slice.count; i++) {
		const struct xc_slice_definition *d = &slice.items[i];
		const struct xc_insn *by = &code->body->insns[d->insn];
		bool clobbered = d->kind == XC_DEFINITION_UNKNOWN &&
				 (by->kind == XC_INSN_CALL || (by->stack_known && by->stack_moves > 0)); /* pop */
		bool never = d->kind == XC_DEFINITION_ENTRY && !is_parameter(code, number, bad);
		bool other = d->kind == XC_DEFINITION_INSN && is_moved_on(code, d->insn, registers[number]);
		if (!clobbered && !never && !other)
			return false;
	}
	return slice.sure && slice.count;
}

bool xc_passed_argument_called(const struct xc_crash_context *crash, size_t frame)
{
	const struct xc_body *body = xc_body_cache_get(crash->bodies, xc_frame_lookup(&crash->frames[frame]));
	const struct xc_frame *caller = &crash->frames[frame + 1];
	const struct xc_body *calling = xc_body_cache_get(crash->bodies, xc_frame_lookup(caller));
	long at = calling ? xc_body_before(calling, caller->pc) : XC_BODY_NONE;
	xc_addr to = 0;
	if (body && at != XC_BODY_NONE)
		xc_body_callee(calling, &calling->insns[at], &to);
	return to && to == body->insns[body->entry].addr;
}
