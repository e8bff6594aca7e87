/* unwind_go: from the thread's stack to that of the goroutine that it runs (goruntime.h).
 *
 *	systemstack   g.sched is at the entry of systemstack_switch(), called as systemstack() was
 *	asmcgocall    likewise
 *	mcall         g.sched is after its call; the scheduler, which never comes back, has mostly let the goroutine go
 *	morestack     g.sched is in the function that needed more stack, after its call
 *
 * Go also differs from C in two ways. Registers other than sp do not survive a call
 * (src/cmd/compile/abi-internal.md), although its call frame information, by the ABI's defaults, says otherwise.
 * sigpanic() returns to the instruction that faulted, and asyncPreempt() to the one that a signal interrupted, not
 * after a call. */
#include "dwarf/unwind/unwind_impl.h"

static const char lost[] =
	"the goroutine's own stack is unknown: there is no debug information for Go's runtime, or its "
	"memory cannot be read";

/* NULL when the frame is not in a Go program. */
static const struct xc_goruntime *go_of(struct xc_unwinder *u, const struct xc_frame *frame)
{
	if (!u->process->module_count || frame->module != u->process->modules[0] || frame->signal)
		return NULL;
	if (!u->go_asked) {
		u->go_asked = true;
		u->go_known = xc_goruntime_find(u->process, &u->go);
	}
	return u->go_known ? &u->go : NULL;
}

/* Before and after the switch, the function is on the goroutine's stack. */
static bool on_stack_of(const struct xc_goruntime *go, const struct xc_frame *frame, xc_addr g)
{
	uint64_t sp, lo, hi;
	return xc_regs_get(&frame->regs, go->process->arch->sp, &sp) &&
	       xc_goruntime_read(go, "runtime.g", g, "stack.lo", &lo) &&
	       xc_goruntime_read(go, "runtime.g", g, "stack.hi", &hi) && sp >= lo && sp < hi;
}

bool xc_unwind_in_go(struct xc_unwinder *u, const struct xc_frame *frame)
{
	const struct xc_goruntime *go = go_of(u, frame);
	return go && xc_goruntime_in(go, XC_GO_TEXT, xc_frame_lookup(frame));
}

bool xc_unwind_is_switch(struct xc_unwinder *u, const struct xc_frame *frame)
{
	xc_addr g;
	const struct xc_goruntime *go = go_of(u, frame);
	if (!go || !xc_goruntime_switches(go, xc_frame_lookup(frame)))
		return false;
	return !xc_goruntime_current(go, &frame->regs, &g) || !on_stack_of(go, frame, g);
}

bool xc_unwind_panics(struct xc_unwinder *u, const struct xc_frame *frame)
{
	const struct xc_goruntime *go = go_of(u, frame);
	return go && (xc_goruntime_in(go, XC_GO_SIGPANIC, xc_frame_lookup(frame)) ||
		      xc_goruntime_in(go, XC_GO_PREEMPT, xc_frame_lookup(frame)));
}

void xc_unwind_faulted(struct xc_unwinder *u, struct xc_frame *caller)
{
	caller->interrupted = true;
	xc_unwind_place(u->process, caller, caller->pc);
	xc_unwind_describe(u, caller);
}

void xc_unwind_go(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	if (!xc_unwind_in_go(u, frame))
		return;
	for (int i = 0; i < arch->frame_regs; i++)
		if (i != arch->sp && i != arch->pc)
			xc_regs_forget(&caller->regs, i);
	if (xc_unwind_panics(u, frame))
		xc_unwind_faulted(u, caller);
}

bool xc_unwind_goroutine(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
			 const char **stop)
{
	const struct xc_arch *arch = u->process->arch;
	const struct xc_goruntime *go = &u->go;
	bool exact = xc_goruntime_in(go, XC_GO_SYSTEMSTACK, xc_frame_lookup(frame)) ||
		     xc_goruntime_in(go, XC_GO_CALL_C, xc_frame_lookup(frame));
	struct xc_regs regs = frame->regs;
	uint64_t before, after, g;
	xc_unwind_forget(arch, &regs);
	for (int i = arch->frame_regs; i < XC_REG_MAX; i++)
		if (!xc_arch_has(arch->constant, i))
			xc_regs_forget(&regs, i);
	*stop = lost;
	if (!xc_goruntime_current(go, &frame->regs, &g)) {
		if (xc_goruntime_in(go, XC_GO_MCALL, xc_frame_lookup(frame)))
			*stop = XC_OUTERMOST; /* the scheduler */
		else if (xc_goruntime_is_idle(go, &frame->regs))
			*stop = XC_OUTERMOST " (the thread runs no goroutine)";
		return false;
	}
	if (!xc_regs_get(&regs, arch->sp, &before) || !xc_goruntime_saved(go, g, &regs) ||
	    !xc_regs_get(&regs, arch->sp, &after) || before == after)
		return false;
	*caller = (struct xc_frame){.index = frame->index + 1,
				    .interrupted = exact,
				    .trust = XC_TRUST_CONTEXT,
				    .descents = frame->descents + 1,
				    .regs = regs};
	if (caller->descents > XC_MAX_DESCENTS) {
		*stop = "goroutines on more stacks than can be: the stack is damaged";
		return false;
	}
	xc_unwind_place(u->process, caller, regs.value[arch->pc]);
	xc_unwind_describe(u, caller);
	return true;
}
