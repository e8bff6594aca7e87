/* taint: registers only, in straight-line code only: what is reported certainly follows, unless a signal comes. */
#include "triage/explain/taint.h"

#include "triage/code/body_cache.h"
#include "triage/code/insn.h"

enum { AHEAD = 64, LONGEST = 15, BACK = 16 };

static bool has(uint64_t set, int number)
{
	return number >= 0 && number < 64 && (set >> number & 1);
}

static bool addressed_by(uint64_t set, const struct xc_insn *insn)
{
	return insn->has_memory && (has(set, insn->memory.base) || has(set, insn->memory.index));
}

/* The registers that hold the value read, or one derived from it, after an instruction. */
static uint64_t pass(uint64_t set, const struct xc_insn *insn)
{
	bool from = has(set, insn->from), memory = addressed_by(set, insn), itself = has(set, insn->to), gets;
	switch (insn->kind) {
	case XC_INSN_MOVE:
	case XC_INSN_MULTIPLY:
		gets = from;
		break;
	case XC_INSN_LOAD:
	case XC_INSN_ADDRESS:
		gets = memory;
		break;
	case XC_INSN_ADD:
	case XC_INSN_SHIFT:
		gets = itself;
		break;
	case XC_INSN_ADD_REGISTER:
	case XC_INSN_CHOOSE:
		gets = itself || from;
		break;
	case XC_INSN_ADD_MEMORY:
	case XC_INSN_CHOOSE_MEMORY:
		gets = itself || memory;
		break;
	default:
		gets = false;
		break;
	}
	set &= ~insn->writes;
	return gets && insn->to >= 0 && insn->to < 64 ? set | UINT64_C(1) << insn->to : set;
}

/* How an instruction uses such a register; for the first one, without any, how it uses the value that it reads.
 * NULL: not relevant. */
static const char *use(uint64_t set, const struct xc_insn *insn)
{
	bool target = has(set, insn->from) || addressed_by(set, insn) || (!set && insn->has_memory);
	if (insn->kind == XC_INSN_CALL)
		return target ? "is called" : NULL;
	if (insn->kind == XC_INSN_JUMP)
		return target ? "is jumped to" : NULL;
	return insn->writes_memory && addressed_by(set, insn) ? "is written through" : NULL;
}

bool xc_taint_of_read(const struct xc_crash_context *crash, const char **how_out)
{
	uint8_t code[AHEAD + LONGEST];
	xc_addr pc = crash->fault.frame.pc;
	size_t got = xc_space_peek(crash->process->space, pc, code, sizeof code), at = 0;
	struct xc_insn insn;
	uint64_t set = 0;
	while (at < got && at < AHEAD && xc_insn_decode(crash->process, code + at, got - at, pc + at, &insn)) {
		*how_out = use(set, &insn);
		if (*how_out)
			return true;
		if (insn.kind >= XC_INSN_CALL)
			return false;
		if (at == 0 && insn.kind == XC_INSN_LOAD && insn.to >= 0 && insn.to < 64)
			set = UINT64_C(1) << insn.to;
		else
			set = pass(set, &insn);
		if (!set)
			return false;
		at += insn.length;
	}
	return false;
}

static bool through_pointer(const struct xc_crash_context *crash, const struct xc_insn *insn)
{
	const struct xc_arch *arch = crash->process->arch;
	int base = insn->memory.base;
	return insn->kind == XC_INSN_LOAD && base >= 0 && base != arch->sp && base != arch->fp && base != arch->pc;
}

bool xc_taint_of_write(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	int base = f->operand_known && f->operand.access == XC_ACCESS_WRITE ? f->operand.base : -1;
	struct xc_body *body = base >= 0 ? xc_body_cache_get(crash->bodies, f->frame.pc) : NULL;
	long at = body ? xc_body_at(body, f->frame.pc) : XC_BODY_NONE;
	for (long i = at - 1; at >= 0 && i >= 0 && at - i <= BACK; i--) {
		const struct xc_insn *insn = &body->insns[i];
		if (insn->kind >= XC_INSN_CALL || insn->addr + insn->length != body->insns[i + 1].addr)
			return false;
		if (!has(insn->writes, base))
			continue;
		if (insn->kind == XC_INSN_MOVE && insn->from >= 0)
			base = insn->from;
		else if (insn->kind != XC_INSN_ADD)
			return through_pointer(crash, insn);
	}
	return false;
}
