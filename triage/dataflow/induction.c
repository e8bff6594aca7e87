/* induction: `p = list; while (…) p += length;` sets p in two places. The second one adds to the old value: followed
 * back, through sums, it leads to the first. Unoptimized code goes through p's slot on the stack, or adds to the
 * slot itself. */
#include "triage/dataflow/induction.h"

enum { DEPTH = 8, SLICES = 16 };

struct trace {
	const struct xc_frame_code *frame_code;
	const struct xc_slice_definition *start;
	unsigned slices; /* slices left */
};

static bool leads_to_start(struct trace *t, const struct xc_slice_definition *d, bool added, unsigned depth);

static bool any_leads(struct trace *t, const struct xc_slice *slice, bool added, unsigned depth)
{
	for (size_t i = 0; i < slice->count; i++)
		if (leads_to_start(t, &slice->items[i], added, depth))
			return true;
	return false;
}

static bool spend(struct trace *t, unsigned depth)
{
	return depth && t->slices && t->slices-- && xc_frame_code_spend(t->frame_code);
}

static bool register_leads(struct trace *t, size_t at, int reg, bool added, unsigned depth)
{
	struct xc_slice slice;
	if (reg < 0 || !spend(t, depth))
		return false;
	xc_slice_register(t->frame_code->body, at, reg, &slice);
	return any_leads(t, &slice, added, depth - 1);
}

static bool slot_leads(struct trace *t, size_t at, bool added, unsigned depth)
{
	struct xc_slice slice;
	const struct xc_insn_memory *m = &t->frame_code->body->insns[at].memory;
	if (!xc_frame_code_is_slot(t->frame_code, m) || !spend(t, depth))
		return false;
	xc_slice_slot(t->frame_code->body, at, m->base, m->displacement, m->size, &slice);
	return any_leads(t, &slice, added, depth - 1);
}

static bool leads_to_start(struct trace *t, const struct xc_slice_definition *d, bool added, unsigned depth)
{
	const struct xc_insn *insn = &t->frame_code->body->insns[d->insn];
	if (d->kind == t->start->kind && d->insn == t->start->insn)
		return added;
	if (d->kind != XC_DEFINITION_INSN)
		return false;
	switch (insn->kind) {
	case XC_INSN_MOVE:
	case XC_INSN_STORE:
		return register_leads(t, d->insn, insn->from, added, depth);
	case XC_INSN_LOAD:
		return slot_leads(t, d->insn, added, depth);
	case XC_INSN_ADDRESS:
		return register_leads(t, d->insn, insn->memory.base, true, depth);
	case XC_INSN_ADD:
	case XC_INSN_ADD_MEMORY:
		return register_leads(t, d->insn, insn->to, true, depth);
	case XC_INSN_ADD_REGISTER:
		return register_leads(t, d->insn, insn->to, true, depth) ||
		       register_leads(t, d->insn, insn->from, true, depth);
	default: /* add $1,-8(%rbp) */
		return insn->reads_memory && insn->writes_memory && slot_leads(t, d->insn, true, depth);
	}
}

size_t xc_induction_start(const struct xc_frame_code *frame_code, const struct xc_slice *slice)
{
	for (size_t start = 0; start < slice->count && slice->count > 1; start++) {
		struct trace t = {.frame_code = frame_code, .start = &slice->items[start], .slices = SLICES};
		size_t led = 0;
		while (led < slice->count && (led == start || leads_to_start(&t, &slice->items[led], false, DEPTH)))
			led++;
		if (led == slice->count)
			return start;
	}
	return slice->count;
}
