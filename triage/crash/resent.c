#include "triage/crash/resent.h"

#include <signal.h>

/* int3 and int1 leave pc behind them. */
static bool traps(const struct xc_process *p, xc_addr pc)
{
	uint8_t code;
	return xc_space_peek(p->space, pc - 1, &code, 1) != 1 || code == 0xcc || code == 0xf1;
}

static bool allows(const struct xc_mapping *m, enum xc_access access)
{
	return access == XC_ACCESS_EXECUTE ? m->executable : access == XC_ACCESS_WRITE ? m->writable : m->readable;
}

/* Is the whole operand mapped, with the rights of the access? For a bus error, it is not in a file, which may have
 * been truncated. */
static bool is_accessible(const struct xc_process *p, const struct xc_memory_operand *o, int signal)
{
	if (!o->addr_known)
		return false;
	const struct xc_mapping *first = xc_process_mapping(p, o->lo), *last = xc_process_mapping(p, o->hi);
	bool file = (first && first->path) || (last && last->path);
	return first && last && allows(first, o->access) && allows(last, o->access) && !(signal == SIGBUS && file);
}

static enum xc_resent by_memory(const struct xc_process *p, const struct xc_instruction *insn, int signal)
{
	bool misaligned;
	if (insn->privileged || insn->unlisted)
		return XC_RESENT_POSSIBLE;
	for (size_t i = 0; i < insn->operand_count; i++)
		if (!is_accessible(p, &insn->operands[i], signal))
			return XC_RESENT_POSSIBLE;
	if (xc_operand_invalid(insn, &misaligned))
		return XC_RESENT_POSSIBLE;
	return insn->operand_count ? XC_RESENT_UNLIKELY : XC_RESENT_IMPOSSIBLE;
}

enum xc_resent xc_resent_by(const struct xc_process *p, const struct xc_frame *frame, int signal)
{
	struct xc_instruction insn;
	const struct xc_mapping *m = xc_process_mapping(p, frame->pc);
	if (signal == SIGTRAP)
		return traps(p, frame->pc) ? XC_RESENT_POSSIBLE : XC_RESENT_IMPOSSIBLE;
	if (!m || !m->executable || !xc_operand_decode(p, &frame->regs, &insn))
		return XC_RESENT_POSSIBLE;
	switch (signal) {
	case SIGSEGV:
	case SIGBUS:
		return by_memory(p, &insn, signal);
	case SIGFPE:
		return insn.calculates ? XC_RESENT_POSSIBLE : XC_RESENT_IMPOSSIBLE;
	case SIGILL:
		return insn.baseline && !insn.privileged ? XC_RESENT_IMPOSSIBLE : XC_RESENT_POSSIBLE;
	default:
		return XC_RESENT_IMPOSSIBLE;
	}
}
