/* unwind_way_out: callers by the code with which a function will return.
 *
 * Of several ways out the first counts whose return address is after a call that can have led here. The caller's
 * registers are those that the way out loads. A function that does not load the frame pointer has not changed it,
 * unless it is generated code with rules of its own; other registers may have been moved to where they are not seen. */

#include "dwarf/decode/code.h"
#include "dwarf/unwind/unwind_impl.h"

enum {
	READ_COST = 2, /* of an instruction, in words scanned */
	STEP_COST = 16,
};

static const struct xc_epilogue *epilogue_of(struct xc_unwinder *u, const struct xc_frame *frame,
					     const struct xc_function_range *range)
{
	if (!u->epilogues)
		u->epilogues = xc_alloc(XC_EPILOGUES_KEPT * sizeof *u->epilogues);
	struct xc_epilogue *e =
		&u->epilogues[(size_t)(frame->pc * UINT64_C(0x9e3779b97f4a7c15) >> 40) % XC_EPILOGUES_KEPT];
	if (e->pc != frame->pc) {
		const struct xc_mapping *m = xc_process_mapping(u->process, frame->pc);
		bool sized = range->hi || !m; /* else other code is known only by another mapping */
		xc_epilogue_read(u->process, frame->pc, sized ? range->lo : m->lo, sized ? range->hi : m->hi + 1,
				 range->hi != 0, e);
		u->guessing += READ_COST * e->read;
	}
	return e;
}

static bool place(const struct xc_process *p, const struct xc_frame *frame, const struct xc_stack_place *at,
		  xc_addr *addr)
{
	uint64_t base;
	if (!(at->by_fp ? xc_unwind_pointer(p, frame, &base) : xc_regs_get(&frame->regs, p->arch->sp, &base)))
		return false;
	*addr = xc_arch_wrap(p->arch, base + (uint64_t)at->at);
	return true;
}

/* `ret`: the return address. If the caller needs a frame pointer and this one leads nowhere, it was used for something
 * else: then the one that was pushed below the return address is the caller's. */
static void restore_pointer(struct xc_unwinder *u, const struct xc_frame *frame, const struct xc_way_out *way,
			    xc_addr ret, struct xc_frame *from)
{
	const struct xc_process *p = u->process;
	const struct xc_arch *arch = p->arch;
	uint64_t value;
	xc_addr at;
	bool kept = xc_unwind_pointer(p, frame, &value) && way->kept >> arch->fp & 1;
	bool known = kept && xc_regs_known(&frame->regs, arch->fp) && (frame->module || arch->lr >= 0);
	if (kept && arch->lr < 0 && place(p, frame, &way->ret, &at) && xc_unwind_keeps_pointer(u, ret))
		known |= xc_unwind_is_chained(p, value, at) || xc_unwind_pushed_pointer(p, at, &value);
	if (known)
		xc_regs_set(&from->regs, arch->fp, value);
	from->fp_left = kept && !known;
}

static void restore(struct xc_unwinder *u, const struct xc_frame *frame, const struct xc_way_out *way, xc_addr ret,
		    struct xc_frame *from)
{
	const struct xc_process *p = u->process;
	const struct xc_arch *arch = p->arch;
	struct xc_regs *regs = &from->regs;
	uint64_t value;
	xc_addr at;
	xc_unwind_forget(arch, regs);
	restore_pointer(u, frame, way, ret, from);
	for (int reg = 0; reg < 32; reg++)
		if (way->restored >> reg & 1 && xc_arch_has(arch->preserved, reg) && reg != arch->sp &&
		    reg != arch->lr && place(p, frame, &way->places[reg], &at) && xc_unwind_load(p, at, &value)) {
			xc_regs_set(regs, reg, value);
			from->fp_left &= reg != arch->fp;
		}
}

/* Does what no call left on the way out, such as 0, end the stack? The function's instructions up to here must show the
 * same place. */
static bool confirms_end(struct xc_unwinder *u, const struct xc_frame *frame, const struct xc_function_range *range,
			 const struct xc_way_out *way)
{
	uint64_t depth;
	bool pushed = u->process->arch->lr < 0;
	const struct xc_stack_place *at = pushed ? &way->ret : &way->sp;
	return range->hi && !way->in_link && !at->by_fp &&
	       xc_epilogue_depth(u->process, range->lo, range->hi, frame->pc, &depth, &u->guessing) &&
	       (uint64_t)at->at == depth;
}

/* Is it where a stack begins that was made by hand, the first byte of a function of another module? makecontext() has
 * such a word where a coroutine's function returns to. */
static bool begins_stack(struct xc_unwinder *u, const struct xc_frame *frame, uint64_t ret)
{
	const struct xc_module *module = xc_process_module(u->process, ret);
	struct xc_function_range range = xc_function_range_of(u->process, ret);
	return module && frame->module && module != frame->module && range.hi && range.lo == ret &&
	       xc_code_executable(u->process, ret);
}

/* Does the way lead up, to a word of the stack that may be a return address? */
static bool leads_up(struct xc_unwinder *u, const struct xc_frame *frame, const struct xc_way_out *way, uint64_t *ret,
		     xc_addr *sp)
{
	const struct xc_process *p = u->process;
	uint64_t own;
	xc_addr at;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &own) || !place(p, frame, &way->sp, sp) || *sp < own ||
	    (*sp == own && !way->in_link))
		return false;
	if (way->in_link)
		return frame->interrupted && xc_regs_get(&frame->regs, p->arch->lr, ret);
	return place(p, frame, &way->ret, &at) && at >= own && xc_unwind_load(p, at, ret);
}

bool xc_unwind_way_out(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller, const char **stop)
{
	const struct xc_process *p = u->process;
	if (u->guessing >= XC_MAX_GUESSING)
		return false;
	u->guessing += STEP_COST;
	struct xc_function_range range = xc_function_range_of(p, xc_frame_lookup(frame));
	const struct xc_epilogue *e = epilogue_of(u, frame, &range);
	for (size_t i = 0; i < e->count; i++) {
		const struct xc_way_out *way = &e->ways[i];
		xc_addr target, sp;
		uint64_t ret;
		if (!leads_up(u, frame, way, &ret, &sp))
			continue;
		bool returns = xc_unwind_returns(p, ret, &target),
		     sure = !returns && e->count == 1 &&
			    (confirms_end(u, frame, &range, way) || begins_stack(u, frame, ret));
		if (!ret && sure) {
			*stop = xc_unwind_null_return(p, sp - p->arch->reg_size);
			return false;
		}
		if (returns ? !xc_reach_may(p, target, &range, &u->guessing) : !sure)
			continue;
		struct xc_frame from = *frame;
		restore(u, frame, way, ret, &from);
		xc_unwind_guessed(u, &from, way->sp.by_fp ? XC_TRUST_FP : XC_TRUST_SCAN, ret, sp, caller);
		if (returns ? range.hi || !xc_unwind_refuted(u, caller) : caller->first)
			return true;
	}
	return false;
}
