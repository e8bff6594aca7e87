/* unset_local: a member of a local object that its function does not set, and that no function which it gives the
 * object to sets at that distance from the address that it got.
 *
 * The function's own stores are found by slices of the slot. The address may have gone other ways: so "possibly". */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>

#include "triage/code/body_cache.h"
#include "triage/dataflow/frame_code.h"
#include "triage/dataflow/local.h"
#include "triage/code/slice.h"
#include "triage/blocks/value_place.h"

enum { FRAMES = 16, CALLEES = 16, LOOK_BACK = 10, OBJECT = 4096 /* bytes of an object before the member */ };

struct unset_local {
	const struct xc_crash_context *crash;
	xc_addr at;
	struct xc_frame_code code;
	const char *name;
};

/* The frame whose own memory the word is in. */
static bool find_frame(struct unset_local *u, unsigned *budget)
{
	const struct xc_crash_context *crash = u->crash;
	int sp = crash->process->arch->sp;
	uint64_t lo, hi;
	for (size_t i = 0; i + 1 < crash->frame_count && i < FRAMES; i++)
		if (xc_regs_get(&crash->frames[i].regs, sp, &lo) && xc_regs_get(&crash->frames[i + 1].regs, sp, &hi) &&
		    u->at >= lo && u->at < hi)
			return xc_frame_code_init(crash, i, budget, &u->code);
	return false;
}

static bool find_name(struct unset_local *u)
{
	struct xc_text text = {0};
	bool named = xc_local_at(u->crash, u->code.frame, u->at, &text);
	if (named)
		u->name = xc_arena_strdup(&u->crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return named;
}

/* On the paths to what runs now. */
enum setting {
	SET_ALWAYS, /* or not known */
	SET_PARTLY, /* there is a path on which nothing sets it */
	SET_NEVER,
};

/* Which stores by this register set the word? */
static enum setting set_by(const struct unset_local *u, int reg)
{
	const struct xc_arch *arch = u->crash->process->arch;
	struct xc_slice slice;
	uint64_t base;
	size_t before = 0;
	if (!xc_regs_get(&u->crash->frames[u->code.frame].regs, reg, &base) || !xc_frame_code_spend(&u->code))
		return SET_ALWAYS;
	xc_slice_slot(u->code.body, u->code.at, reg, (int64_t)(u->at - base), arch->word, &slice);
	for (size_t i = 0; i < slice.count; i++)
		before += slice.items[i].kind == XC_DEFINITION_ENTRY && slice.items[i].reg < 0 &&
			  slice.items[i].offset < 0;
	return !before ? SET_ALWAYS : before < slice.count ? SET_PARTLY : SET_NEVER;
}

static enum setting setting_of(const struct unset_local *u)
{
	const struct xc_arch *arch = u->crash->process->arch;
	const enum setting top = set_by(u, arch->sp);
	if (top == SET_ALWAYS || !xc_frame_code_is_frame_register(&u->code, arch->fp))
		return top;
	const enum setting frame = set_by(u, arch->fp);
	return frame < top ? frame : top;
}

/* Does the function write at this distance from a pointer? */
static bool writes_at(const struct xc_body *body, uint64_t distance)
{
	const struct xc_arch *arch = body->process->arch;
	for (size_t i = 0; i < body->count; i++) {
		const struct xc_insn *insn = &body->insns[i];
		uint64_t size = insn->memory.size ? insn->memory.size : arch->word;
		uint64_t into = distance - (uint64_t)insn->memory.displacement;
		if (insn->has_memory && insn->writes_memory && insn->memory.base >= 0 &&
		    insn->memory.base != arch->sp && insn->memory.base != arch->fp &&
		    (into < size || insn->memory.index >= 0))
			return true;
	}
	return false;
}

/* It may pass on what it got. */
static bool calls(const struct xc_body *body)
{
	for (size_t i = 0; i < body->call_count; i++) {
		enum xc_insn_kind kind = body->insns[body->calls[i].insn].kind;
		const struct xc_insn *insn = &body->insns[body->calls[i].insn];
		if (kind == XC_INSN_CALL || !insn->has_target || !xc_body_holds(body, insn->target))
			return true;
	}
	return false;
}

/* The function that the call gives the object to writes there, or may have another do so, or is a library's, as
 * memset() is. */
static bool is_set_by(const struct unset_local *u, size_t call, xc_addr given)
{
	const struct xc_process *p = u->crash->process;
	xc_addr to = 0;
	xc_body_callee(u->code.body, &u->code.body->insns[call], &to);
	const struct xc_body *body = to ? xc_body_cache_get(u->crash->bodies, to) : NULL;
	return !body || body->incomplete || calls(body) ||
	       xc_process_module(p, to) != xc_process_module(p, u->code.body->insns[call].addr) ||
	       writes_at(body, u->at - given);
}

/* The functions that run, and have the object by the pointer that leads there. What was called through a bad pointer is
 * none. */
static bool is_set_by_running(const struct unset_local *u, xc_addr object)
{
	const bool called = u->crash->fault.access == XC_ACCESS_EXECUTE;
	for (size_t i = called; i < u->code.frame; i++) {
		const struct xc_body *body = xc_body_cache_get(u->crash->bodies, xc_frame_lookup(&u->crash->frames[i]));
		if (!body || body->incomplete || writes_at(body, u->at - object))
			return true;
	}
	return false;
}

/* Does the instruction make the address of the object, or of a part of it before the member? */
static bool makes_address(const struct unset_local *u, size_t at, xc_addr *address_out)
{
	const struct xc_insn *insn = &u->code.body->insns[at];
	uint64_t base = 0;
	bool top = insn->kind == XC_INSN_MOVE && insn->from == u->crash->process->arch->sp;
	if (!(top || (insn->kind == XC_INSN_ADDRESS && insn->memory.index < 0 &&
		      xc_frame_code_is_frame_register(&u->code, insn->memory.base))) ||
	    insn->to == u->crash->process->arch->fp ||
	    !xc_frame_code_frame_value(&u->code, at, top ? insn->from : insn->memory.base, &base))
		return false;
	*address_out = base + (top ? 0 : (uint64_t)insn->memory.displacement);
	return u->at - *address_out < OBJECT;
}

/* In a register that calls preserve: any call may get it. */
static bool keeps_address(const struct unset_local *u, xc_addr *address_out)
{
	const struct xc_body *body = u->code.body;
	for (size_t i = 0; i < body->count; i++)
		if (xc_arch_has(u->crash->process->arch->preserved, body->insns[i].to) &&
		    makes_address(u, i, address_out))
			return true;
	return false;
}

/* In the instructions before a call. */
static bool gives_object(const struct unset_local *u, size_t call, xc_addr *given_out)
{
	const struct xc_body *body = u->code.body;
	for (size_t i = call; i > 0 && call - i < LOOK_BACK; i--) {
		const struct xc_insn *insn = &body->insns[i - 1];
		if (insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP || insn->kind == XC_INSN_RETURN)
			return false;
		if (makes_address(u, i - 1, given_out))
			return true;
	}
	return false;
}

static bool is_set_elsewhere(const struct unset_local *u)
{
	const struct xc_body *body = u->code.body;
	size_t callees = 0;
	xc_addr kept = 0, given = 0;
	bool keeps = keeps_address(u, &kept);
	for (size_t i = 0; i < body->call_count; i++) {
		size_t call = body->calls[i].insn;
		bool gives = gives_object(u, call, &given);
		if (call == u->code.at || body->insns[call].kind != XC_INSN_CALL || (!gives && !keeps))
			continue;
		if (++callees > CALLEES || is_set_by(u, call, gives ? given : kept))
			return true;
	}
	return false;
}

/* The member, when nothing else than its function's own stores may set it. */
static enum setting find(const struct xc_crash_context *crash, unsigned *budget, struct unset_local *out)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	*out = (struct unset_local){.crash = crash};
	if (!bad || !bad->at_known || bad->own || !bad->led_known)
		return SET_ALWAYS;
	out->at = bad->at;
	if (!find_frame(out, budget) || !find_name(out))
		return SET_ALWAYS;
	const enum setting setting = setting_of(out);
	return setting != SET_ALWAYS && !is_set_by_running(out, bad->led) && !is_set_elsewhere(out) ? setting
												    : SET_ALWAYS;
}

static bool diagnose(struct xc_pointer_diagnosis *s, enum setting wanted, const char *why)
{
	struct unset_local u;
	unsigned budget = XC_SYMBOLIC_BUDGET;
	if (find(s->crash, &budget, &u) != wanted)
		return false;
	const struct xc_place *place = xc_crash_context_place(s->crash, u.code.frame);
	const char *function = xc_place_outer_function(place);
	xc_pointer_diagnosis_explain(s, "possibly `%s` of %s() was never set: %s", u.name,
				     function ? function : "a function", why);
	return true;
}

bool xc_unset_local_diagnose(struct xc_pointer_diagnosis *s)
{
	return diagnose(s, SET_NEVER, "neither that function nor one to which it passes the object stores there");
}

bool xc_unset_local_partly(struct xc_pointer_diagnosis *s)
{
	return diagnose(s, SET_PARTLY, "that function stores there only on some paths to the current call");
}
