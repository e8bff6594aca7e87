/* origin_passed: values that callers passed, or calls returned: the register of an argument, and the value of an
 * expression when callers are considered, too. */
#include "triage/dataflow/induction.h"
#include "triage/dataflow/origin.h"

enum { DEPTH = 12, FRAMES = 4 };

/* ---- where a value began ---- */

/* How far back, and through what, to follow. */
struct trace {
	const struct xc_frame_code *frame_code;
	bool moved; /* by a loop, too */
	unsigned depth;
};

static bool begins(struct trace t, const struct xc_slice *slice, struct xc_slice_definition *out);

static bool register_begins(struct trace t, size_t at, int reg, struct xc_slice_definition *out)
{
	struct xc_slice slice;
	if (reg < 0 || !xc_frame_code_spend(t.frame_code))
		return false;
	xc_slice_register(t.frame_code->body, at, reg, &slice);
	return begins(t, &slice, out);
}

static bool slot_begins(struct trace t, size_t at, struct xc_slice_definition *out)
{
	struct xc_slice slice;
	const struct xc_insn_memory *m = &t.frame_code->body->insns[at].memory;
	if (!xc_frame_code_is_slot(t.frame_code, m) || !xc_frame_code_spend(t.frame_code))
		return false;
	xc_slice_slot(t.frame_code->body, at, m->base, m->displacement, m->size, &slice);
	return begins(t, &slice, out);
}

static bool begins(struct trace t, const struct xc_slice *slice, struct xc_slice_definition *out)
{
	size_t start = slice->count == 1 ? 0 : t.moved ? xc_induction_start(t.frame_code, slice) : slice->count;
	if (start == slice->count || !t.depth--)
		return false;
	*out = slice->items[start];
	if (out->kind != XC_DEFINITION_INSN)
		return true;
	const struct xc_insn *insn = &t.frame_code->body->insns[out->insn];
	if (insn->kind == XC_INSN_MOVE || insn->kind == XC_INSN_STORE)
		return register_begins(t, out->insn, insn->from, out);
	return insn->kind == XC_INSN_LOAD && slot_begins(t, out->insn, out);
}

static bool term_begins(struct trace t, const struct xc_symbolic_value *term, struct xc_slice_definition *out)
{
	switch (term->kind) {
	case XC_SYMBOLIC_VARIABLE:
	case XC_SYMBOLIC_ENTRY:
		return register_begins(t, term->at, term->reg, out);
	case XC_SYMBOLIC_LOADED:
		return term->slot && slot_begins(t, term->at, out);
	case XC_SYMBOLIC_RESULT:
		*out = (struct xc_slice_definition){.kind = XC_DEFINITION_RESULT, .insn = term->at};
		return true;
	default:
		return false;
	}
}

int xc_origin_argument(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term, bool moved)
{
	struct xc_slice_definition start;
	bool entered = term_begins((struct trace){frame_code, moved, DEPTH}, term, &start) &&
		       start.kind == XC_DEFINITION_ENTRY;
	return entered ? start.reg : -1;
}

long xc_origin_result(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term)
{
	struct xc_slice_definition start;
	bool returned = term_begins((struct trace){frame_code, false, DEPTH}, term, &start) &&
			start.kind == XC_DEFINITION_RESULT;
	return returned ? (long)start.insn : XC_BODY_NONE;
}

/* ---- values ---- */

static bool form_value(const struct xc_frame_code *s, const struct xc_linear_expr *form, unsigned frames,
		       uint64_t *value)
{
	*value = (uint64_t)form->constant;
	for (size_t i = 0; i < form->count; i++) {
		const struct xc_symbolic_value *term = &form->parts[i].term;
		uint64_t one = term->value;
		struct xc_frame_code caller;
		struct xc_linear_expr passed;
		int reg = term->value_known || !frames ? -1 : xc_origin_argument(s, term, false);
		if (!term->value_known && (reg < 0 || !xc_symbolic_value_caller(s, reg, &caller, &passed) ||
					   !form_value(&caller, &passed, frames - 1, &one)))
			return false;
		*value += one * (uint64_t)form->parts[i].times;
	}
	return form->known;
}

bool xc_origin_value(const struct xc_frame_code *frame_code, const struct xc_linear_expr *form, uint64_t *value)
{
	return form_value(frame_code, form, FRAMES, value);
}
