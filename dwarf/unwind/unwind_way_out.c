/* unwind_way_out: callers by the code with which a function will return.
 *
 * Of several ways out the first counts whose return address is behind a call that can have led here. In code of a
 * module the registers that calls preserve and that the way out does not load are the caller's: a function that
 * changes one restores it. Generated code has its own rules: there only what is loaded counts, and the frame pointer. */
#include <stdlib.h>

#include "dwarf/decode/code.h"
#include "dwarf/unwind/unwind_impl.h"

enum { EPILOGUE_COST = 2 }; /* of an instruction, in words scanned */

static const struct xc_epilogue *epilogue_of(struct xc_unwinder *u, const struct xc_frame *frame,
					     const struct xc_code_range *range)
{
	if (!u->epilogues)
		u->epilogues = xc_alloc(XC_EPILOGUES_KEPT * sizeof *u->epilogues);
	struct xc_epilogue *e =
		&u->epilogues[(size_t)(frame->pc * UINT64_C(0x9e3779b97f4a7c15) >> 40) % XC_EPILOGUES_KEPT];
	if (e->pc != frame->pc) {
		xc_epilogue_read(u->process, frame->pc, range->lo, range->hi, e);
		u->guessing += EPILOGUE_COST * e->read;
	}
	return e;
}

static bool place(const struct xc_arch *arch, const struct xc_frame *frame, const struct xc_stack_place *at,
		  xc_addr *addr)
{
	uint64_t base;
	if (!xc_regs_get(&frame->regs, at->by_fp ? arch->fp : arch->sp, &base))
		return false;
	*addr = xc_arch_wrap(arch, base + (uint64_t)at->at);
	return true;
}

static void restore(const struct xc_process *p, const struct xc_frame *frame, const struct xc_way_out *way,
		    struct xc_regs *regs)
{
	const struct xc_arch *arch = p->arch;
	uint32_t kept = way->kept;
	uint64_t value;
	xc_addr at;
	xc_unwind_forget(arch, regs);
	for (int reg = 0; reg < 32; reg++) {
		if (reg == arch->sp || reg == arch->pc || reg == arch->lr || !xc_arch_has(arch->preserved, reg))
			continue;
		if (way->restored >> reg & 1 && place(arch, frame, &way->places[reg], &at) &&
		    xc_unwind_load(p, at, &value))
			xc_regs_set(regs, reg, value);
		else if (kept >> reg & 1 && (frame->module || reg == arch->fp) &&
			 xc_regs_get(&frame->regs, reg, &value))
			xc_regs_set(regs, reg, value);
	}
}

/* Does the way lead up, to a word of the stack that may be a return address? */
static bool leads_up(struct xc_unwinder *u, const struct xc_frame *frame, const struct xc_way_out *way, uint64_t *ret,
		     xc_addr *sp)
{
	const struct xc_process *p = u->process;
	uint64_t own;
	xc_addr at;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &own) || !place(p->arch, frame, &way->sp, sp) || *sp < own ||
	    (*sp == own && !way->in_link))
		return false;
	if (way->in_link)
		return frame->interrupted && xc_regs_get(&frame->regs, p->arch->lr, ret);
	return place(p->arch, frame, &way->ret, &at) && at >= own && xc_unwind_load(p, at, ret);
}

bool xc_unwind_way_out(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
		       const char **stop)
{
	const struct xc_process *p = u->process;
	if (u->guessing >= XC_MAX_GUESSING)
		return false;
	struct xc_code_range range = xc_code_range_of(p, xc_frame_lookup(frame));
	const struct xc_epilogue *e = epilogue_of(u, frame, &range);
	for (size_t i = 0; i < e->count; i++) {
		const struct xc_way_out *way = &e->ways[i];
		xc_addr target, sp;
		uint64_t ret;
		if (!leads_up(u, frame, way, &ret, &sp))
			continue;
		if (!ret && range.hi && e->count == 1) {
			*stop = XC_OUTERMOST_NULL;
			return false;
		}
		if (!xc_unwind_returns(p, ret, &target) || !xc_reach_may(p, target, &range, &u->guessing))
			continue;
		struct xc_frame from = *frame;
		restore(p, frame, way, &from.regs);
		xc_unwind_guessed(u, &from, way->sp.by_fp ? XC_TRUST_FP : XC_TRUST_SCAN, ret, sp, caller);
		if (range.hi || !xc_unwind_refuted(u, caller))
			return true;
	}
	return false;
}
