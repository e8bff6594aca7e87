/* symbolic_value_caller: what the caller of a function passed in a register, also through a function between them that
 * jumped on to it. */
#include "triage/code/body_cache.h"
#include "triage/dataflow/symbolic_value.h"

enum { MOVES = 4, TAIL_CALLS = 1 };

/* The register in which a function got what it has in `reg` at an instruction, moved about since; -1: it did not. */
static int entered_in(const struct xc_frame_code *s, const struct xc_body *body, size_t at, int reg)
{
	struct xc_slice slice;
	for (unsigned i = 0; i < MOVES && reg >= 0 && xc_frame_code_spend(s); i++) {
		xc_slice_register(body, at, reg, &slice);
		if (slice.count != 1 || !slice.sure)
			return -1;
		if (slice.items[0].kind == XC_DEFINITION_ENTRY)
			return slice.items[0].reg;
		if (slice.items[0].kind != XC_DEFINITION_INSN || body->insns[slice.items[0].insn].kind != XC_INSN_MOVE)
			return -1;
		at = slice.items[0].insn;
		reg = body->insns[at].from;
	}
	return -1;
}

/* The function that was called jumped on to this one, as mktime() does: the register in which it got what it passed on
 * in `reg`. -1: it did not, or something else. */
static int passed_on(const struct xc_frame_code *s, const struct xc_frame_code *caller, int reg)
{
	xc_addr addr, to;
	const struct xc_insn *call = &caller->body->insns[caller->at];
	if (call->kind != XC_INSN_CALL || !xc_body_callee(caller->body, call, &addr) || !addr)
		return -1;
	const struct xc_body *between = xc_body_cache_get(s->crash->bodies, addr);
	int entered = -1;
	if (!between || between == s->body || between->jumps_wild)
		return -1;
	for (size_t i = 0; i < between->count; i++) {
		const struct xc_insn *jump = &between->insns[i];
		if (jump->kind != XC_INSN_JUMP)
			continue;
		xc_body_callee(between, jump, &to);
		if (!to || xc_body_at(s->body, to) != (long)s->body->entry)
			continue;
		int one = entered_in(s, between, i, reg);
		if (one < 0 || (entered >= 0 && one != entered))
			return -1;
		entered = one;
	}
	return entered;
}

bool xc_symbolic_value_caller(const struct xc_frame_code *s, int reg, struct xc_frame_code *caller,
			      struct xc_linear_expr *form)
{
	const struct xc_crash_context *crash = s->crash;
	size_t next = s->frame + 1;
	while (next < crash->frame_count && next <= s->frame + TAIL_CALLS && crash->frames[next].tail_call)
		next++;
	if (next >= crash->frame_count || crash->frames[next].trust != XC_TRUST_CFI || crash->frames[next].tail_call ||
	    crash->frames[s->frame].signal || crash->frames[next].signal || crash->frames[next].interrupted ||
	    !xc_frame_code_init(crash, next, s->budget, caller))
		return false;
	const bool direct = next == s->frame + 1 && xc_frame_code_calls(caller, s);
	if (!direct)
		reg = passed_on(s, caller, reg);
	if (reg < 0)
		return false;
	*form = xc_symbolic_value_register(caller, caller->at, reg);
	form->sure &= direct;
	return form->known;
}
