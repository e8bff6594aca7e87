/* symbolic_value_slot: see symbolic_value_impl.h. */
#include "triage/dataflow/symbolic_value_impl.h"
#include "triage/util/user_code.h"

enum { PROLOGUE = 32, WORD = 8, STEPS = 8 };

static bool is_variable(const struct xc_frame_code *s, size_t at, struct xc_held *out)
{
	const struct xc_insn_memory *slot = &s->body->insns[at].memory;
	const struct xc_frame_context context = xc_frame_code_context(s, s->at);
	const size_t levels = context.place->level_count;
	uint64_t addr;
	return levels && !context.place->line_only && xc_user_code_is(context.place, levels - 1) &&
	       xc_frame_code_frame_value(s, at, slot->base, &addr) &&
	       xc_variable_held(&context, levels - 1, -1, addr + (uint64_t)slot->displacement, out) && out->argument &&
	       !out->offset;
}

int xc_symbolic_value_entry(const struct xc_frame_code *s, size_t at, int reg)
{
	struct xc_slice slice;
	xc_slice_register(s->body, at, reg, &slice);
	for (unsigned i = 0; i < STEPS && slice.count == 1; i++) {
		const struct xc_slice_definition *d = &slice.items[0];
		const struct xc_insn *insn = &s->body->insns[d->insn];
		if (d->kind == XC_DEFINITION_ENTRY)
			return d->reg;
		if (d->kind != XC_DEFINITION_INSN || !xc_frame_code_spend(s))
			return -1;
		if ((insn->kind == XC_INSN_MOVE || insn->kind == XC_INSN_STORE) && insn->from >= 0)
			xc_slice_register(s->body, d->insn, insn->from, &slice);
		else if (insn->kind == XC_INSN_LOAD && xc_frame_code_is_slot(s, &insn->memory))
			xc_slice_slot(s->body, d->insn, insn->memory.base, insn->memory.displacement, insn->memory.size,
				      &slice);
		else
			return -1;
	}
	return -1;
}

bool xc_symbolic_value_spilled(const struct xc_frame_code *s, int reg, struct xc_held *out)
{
	const struct xc_body *body = s->body;
	for (size_t i = body->entry; i < body->count && i - body->entry < PROLOGUE; i++) {
		const struct xc_insn *insn = &body->insns[i];
		if (insn->kind == XC_INSN_STORE && insn->from >= 0 && insn->memory.size == WORD &&
		    xc_frame_code_is_slot(s, &insn->memory) && is_variable(s, i, out) && xc_frame_code_spend(s) &&
		    xc_symbolic_value_entry(s, i, insn->from) == reg)
			return true;
		if (insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN)
			return false;
	}
	return false;
}

struct xc_linear_expr xc_symbolic_value_stored(const struct xc_frame_code *s, size_t at,
					       const struct xc_insn_memory *slot)
{
	struct xc_linear_expr form = {.known = false};
	struct xc_slice slice;
	if (!xc_frame_code_spend(s))
		return form;
	xc_slice_slot(s->body, at, slot->base, slot->displacement, slot->size, &slice);
	const struct xc_insn *insn = slice.count == 1 && slice.items[0].kind == XC_DEFINITION_INSN
					     ? &s->body->insns[slice.items[0].insn]
					     : NULL;
	if (!insn || insn->kind != XC_INSN_STORE || insn->from < 0 || insn->memory.size != slot->size)
		return form;
	form = xc_symbolic_value_register(s, slice.items[0].insn, insn->from);
	form.sure &= slice.sure;
	return form;
}
