/* unwind: one step at a time, best evidence first.
 *
 *   a row of call frame information ──→ CFA ──→ every register's rule           trust: cfi
 *   Go: the thread's stack goes on in its goroutine's (unwind_go.c)             trust: context
 *   pc not executable (call through a bad pointer): [sp] is the return address  trust: scan
 *   a row that needs a frame pointer which is not known (a live thread's):
 *           where the function's code moves sp by known amounts only, from sp   trust: fp
 *           a word above sp that returns after a call of this very function,
 *           or below which a frame pointer was pushed, or any                   trust: scan
 *   no row: the frame pointer, where the function's code sets it up             trust: fp
 *           no symbol: a word after a call of code that leads here, just above trust: scan
 *           where the function's code will return to                            trust: fp, scan
 *           a word above sp that returns after a call of this very function    trust: scan
 *           the word that its pushes and subtractions leave above them          trust: scan
 *           the first word above sp that returns after any call                trust: scan
 *   a return address that cannot be one (overwritten stack): the same, above it trust: scan
 *
 *   the program's first code, and code that no call precedes: the stack ends
 *
 * Every guess must land in executable memory, right after a call instruction where the code is readable: one that can
 * have led to the frame's function, if there is such a word. Every step must move up the stack, so that no stack
 * loops. A signal trampoline may change stacks, but not often; and guessing costs, so one unwinder does it only so
 * much. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/decode/code.h"
#include "dwarf/unwind/prologue.h"
#include "dwarf/unwind/reach.h"
#include "dwarf/unwind/unwind_impl.h"

enum { LOOK_AHEAD = 64 };

static const char outermost[] = XC_OUTERMOST;
static const char nothing_found[] = "no call frame information here, and nothing above looks like a return address";

const char *xc_trust_text(enum xc_trust trust)
{
	static const char *const texts[] = {"context", "cfi", "fp", "scan", "plugin"};
	return texts[trust];
}

struct xc_unwinder *xc_unwinder_new(const struct xc_process *process)
{
	struct xc_unwinder *u = xc_alloc(sizeof *u);
	u->process = process;
	u->cfi = xc_cfi_new(process);
	u->tailcalls = xc_tailcalls_new(process);
	return u;
}

void xc_unwinder_free(struct xc_unwinder *u)
{
	if (!u)
		return;
	free(u->epilogues);
	xc_cfi_free(u->cfi);
	xc_tailcalls_free(u->tailcalls);
	free(u);
}

static const char *stop_at(struct xc_unwinder *u, const char *what, xc_addr addr)
{
	const char *why = xc_space_why(u->process->space, addr);
	if (addr == UINT64_MAX)
		snprintf(u->stop, sizeof u->stop, "%s needs a register whose value is unknown", what);
	else
		snprintf(u->stop, sizeof u->stop, "%s at 0x%" PRIx64 ": %s", what, addr,
			 why ? why : "points outside readable memory");
	return u->stop;
}

/* ---- steps ---- */

void xc_unwind_place(const struct xc_process *p, struct xc_frame *f, uint64_t pointer)
{
	xc_addr pc = xc_code_address(p, pointer);
	xc_regs_set(&f->regs, p->arch->pc, pc);
	f->pc = pc;
	f->module = xc_process_module(p, xc_frame_lookup(f));
}

/* Does the code at pc look like a signal trampoline? */
static bool is_trampoline(struct xc_unwinder *u, struct xc_frame *f)
{
	xc_addr *ordinary = &u->ordinary[(f->pc ^ f->pc >> 10) % XC_ORDINARY_KEPT];
	if (*ordinary == f->pc)
		return false;
	if (!xc_code_is_trampoline(u->process, f->pc)) {
		*ordinary = f->module ? f->pc : 0;
		return false;
	}
	f->trampoline = f->signal = f->interrupted = true;
	f->module = xc_process_module(u->process, f->pc);
	return true;
}

/* x86: where the function's code moves sp by known amounts only, sp tells the frame address, and that the frame pointer
 * which the row needs: that of a live thread's frames is not known. */
static void find_pointer(struct xc_unwinder *u, const struct xc_cfi_row *row, struct xc_frame *f)
{
	const struct xc_process *p = u->process;
	struct xc_function_range range = {.lo = 0};
	uint64_t sp, depth, ret;
	xc_addr target;
	if (p->arch->lr >= 0 || row->cfa_reg != p->arch->fp || !xc_regs_get(&f->regs, p->arch->sp, &sp))
		return;
	range = xc_function_range_of(p, xc_frame_lookup(f));
	if (!range.lo || u->guessing >= XC_MAX_GUESSING ||
	    !xc_epilogue_depth(p, range.lo, range.hi, f->pc, &depth, &u->guessing) ||
	    !xc_unwind_load(p, sp + depth, &ret) || !xc_unwind_returns(p, ret, &target))
		return;
	f->cfa = sp + depth + p->arch->reg_size;
	f->cfa_known = f->cfa_by_code = true;
	xc_regs_set(&f->regs, p->arch->fp, f->cfa - (uint64_t)row->cfa_offset);
}

/* x86: the frame pointer that was left before a guess is this function's where its row leads from there to a return
 * address. */
static void try_left_pointer(struct xc_unwinder *u, const struct xc_cfi_row *row, struct xc_frame *f)
{
	const struct xc_process *p = u->process;
	uint64_t fp, sp, ret;
	xc_addr target, missing, cfa;
	struct xc_regs regs = f->regs;
	if (!f->fp_left || row->cfa_reg != p->arch->fp || !xc_unwind_pointer(p, f, &fp) ||
	    !xc_regs_get(&regs, p->arch->sp, &sp))
		return;
	xc_regs_set(&regs, p->arch->fp, fp);
	if (!xc_cfi_cfa(p, row, &regs, &cfa, &missing) || cfa <= sp ||
	    !xc_cfi_register(p, row, row->return_reg, &regs, cfa, &ret, &missing) ||
	    !xc_unwind_returns(p, ret, &target))
		return;
	f->regs = regs;
	f->fp_left = false;
	f->cfa = cfa;
	f->cfa_known = true;
}

void xc_unwind_describe(struct xc_unwinder *u, struct xc_frame *f)
{
	xc_addr missing;
	if (u->process->arch->lr >= 0 && is_trampoline(u, f))
		return;
	const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(f));
	/* The return address of a handler is the first byte of its trampoline, which no call precedes. glibc's call
	 * frame information also covers the byte before; others are found at pc itself. */
	if (!row->found && !f->interrupted) {
		const struct xc_cfi_row *exact = xc_cfi_row(u->cfi, f->pc);
		if (exact->signal) {
			row = exact;
			f->interrupted = true;
			f->module = xc_process_module(u->process, f->pc);
		}
	}
	if (!row->signal && !f->interrupted && is_trampoline(u, f))
		return;
	if (!row->signal && !f->interrupted && xc_unwind_made_by_hand(u, f, row)) {
		f->first = true;
		row = xc_cfi_row(u->cfi, xc_frame_lookup(f));
	}
	f->signal = row->signal;
	f->cfa_known = row->found && xc_cfi_cfa(u->process, row, &f->regs, &f->cfa, &missing);
	if (row->found && !f->cfa_known)
		find_pointer(u, row, f);
	if (row->found && !f->cfa_known)
		try_left_pointer(u, row, f);
}

void xc_unwind_forget(const struct xc_arch *arch, struct xc_regs *regs)
{
	for (int i = 0; i < arch->frame_regs; i++)
		if (i != arch->sp && i != arch->pc && !xc_arch_has(arch->constant, i))
			xc_regs_forget(regs, i);
}

static bool step_row(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller, const char **stop);

/* After a scan only sp can be relied on, so a frame that is found by another register ends the check. */
bool xc_unwind_refuted(struct xc_unwinder *u, const struct xc_frame *from)
{
	struct xc_frame at = *from, next;
	const char *stop = NULL;
	for (size_t i = 0; i < LOOK_AHEAD; i++) {
		const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(&at));
		if (at.first || !row->found || row->cfa_reg != u->process->arch->sp)
			return false;
		u->guessing++;
		if (!step_row(u, &at, &next, &stop))
			return stop != outermost;
		at = next;
		if (!xc_code_executable(u->process, at.pc))
			return true;
	}
	return false;
}

/* Is the frame, which is found by its frame pointer, as large as its first instructions make it? `sp` is its caller's.
 */
static bool has_its_size(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr sp)
{
	uint64_t own;
	struct xc_function_range range = xc_function_range_of(u->process, xc_frame_lookup(frame));
	struct xc_prologue prologue = xc_prologue_read(u->process, range.lo, xc_frame_lookup(frame));
	return u->process->arch->lr < 0 && prologue.frame_pointer &&
	       xc_regs_get(&frame->regs, u->process->arch->sp, &own) &&
	       own == sp - u->process->arch->reg_size - prologue.depth;
}

bool xc_unwind_leads_to(struct xc_unwinder *u, const struct xc_frame *from, xc_addr sp)
{
	struct xc_frame at = *from, next;
	const char *stop = NULL;
	uint64_t after;
	for (size_t i = 0; i < LOOK_AHEAD; i++) {
		const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(&at));
		u->guessing++;
		if (at.first || !row->found || !step_row(u, &at, &next, &stop) ||
		    !xc_regs_get(&next.regs, u->process->arch->sp, &after) || after > sp)
			return false;
		if (after == sp)
			return row->cfa_reg == u->process->arch->sp || has_its_size(u, &at, sp);
		at = next;
	}
	return false;
}

/* Compute the caller's registers by the rules of the row; false with *stop set when the return address is
 * unavailable. */
static bool apply_row(struct xc_unwinder *u, const struct xc_cfi_row *row, const struct xc_frame *frame,
		      struct xc_frame *caller, const char **stop)
{
	const struct xc_process *p = u->process;
	xc_addr missing;
	uint64_t value, pc;
	if (row->rules[row->return_reg].kind == XC_CFI_LOST) {
		*stop = outermost;
		return false;
	}
	if (!xc_cfi_register(p, row, row->return_reg, &frame->regs, frame->cfa, &pc, &missing)) {
		*stop = stop_at(u, "return address", missing);
		return false;
	}
	const int fp = p->arch->fp;
	bool same = fp >= row->rule_count || row->rules[fp].kind == XC_CFI_SAME;
	*caller = (struct xc_frame){.index = frame->index + 1,
				    .fp_left = frame->fp_left && same && !row->signal,
				    .interrupted = row->signal,
				    .trust = row->signal          ? XC_TRUST_CONTEXT
					     : row->told          ? XC_TRUST_PLUGIN
					     : frame->cfa_by_code ? XC_TRUST_FP
								  : XC_TRUST_CFI,
				    .regs = frame->regs};
	struct xc_regs *regs = &caller->regs;
	for (int i = 0; i < row->rule_count; i++) {
		if (row->rules[i].kind == XC_CFI_SAME || xc_arch_has(p->arch->constant, i))
			continue;
		if (xc_cfi_register(p, row, i, &frame->regs, frame->cfa, &value, &missing))
			xc_regs_set(regs, i, value);
		else
			xc_regs_forget(regs, i);
	}
	xc_regs_forget_from(regs, row->rule_count,
			    p->arch->constant); /* flags and segments; the thread pointer stays */
	if (!row->signal)                       /* it held the return address, so the caller's value is unknown */
		xc_regs_forget(regs, p->arch->lr);
	regs->vector = NULL;
	xc_unwind_place(p, caller, pc);
	return true;
}

/* Has the innermost function given its stack back? longjmp() has at its last jump, where a register holds the return
 * address. */
static bool has_left(struct xc_unwinder *u, const struct xc_frame *frame)
{
	const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(frame));
	return frame->index == 0 && row->found && row->rules[row->return_reg].kind == XC_CFI_REGISTER;
}

/* Does the step lead upward, or to another stack across a trampoline? */
static bool advances(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t before, after;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &before) || !xc_regs_get(&caller->regs, p->arch->sp, &after))
		return false;
	caller->descents = frame->descents + (after < before);
	/* an interrupted function may have no frame of its own where calls push nothing */
	bool leaf = frame->interrupted && !caller->interrupted && after == before &&
		    (p->arch->lr >= 0 || has_left(u, frame));
	return after > before || leaf || (frame->signal && after != before);
}

/* The last checks of a caller that was found by rules. */
static bool arrived(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller, const char **stop)
{
	if (caller->pc == 0 && !caller->interrupted) { /* the interrupted code may have called a null pointer */
		*stop = XC_OUTERMOST_NULL;
		return false;
	}
	if (!advances(u, frame, caller)) {
		*stop = "the stack does not go up any more: damaged, or the call frame information is wrong";
		return false;
	}
	if (caller->descents > XC_MAX_DESCENTS) {
		*stop = "signal handlers on more stacks than can be: the stack is damaged";
		return false;
	}
	xc_unwind_describe(u, caller);
	return true;
}

/* Find the caller by call frame information. False with *stop NULL when there is none. */
static bool step_row(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller, const char **stop)
{
	const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(frame));
	*stop = NULL;
	if (row->at_calls && frame->interrupted &&
	    (row->rules[row->return_reg].kind == XC_CFI_LOST || xc_unwind_in_prologue(u->process, frame)))
		return false;
	if (!row->found || !frame->cfa_known) {
		*stop = row->found ? stop_at(u, "the frame address", UINT64_MAX) : NULL;
		return false;
	}
	if (!apply_row(u, row, frame, caller, stop) || !arrived(u, frame, caller, stop))
		return false;
	xc_unwind_go(u, frame, caller);
	return true;
}

/* The caller is the code that the signal interrupted, with all its registers. */
static bool step_trampoline(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
			    const char **stop)
{
	struct xc_regs regs;
	*stop = "the registers that the signal's frame holds cannot be read";
	if (!xc_code_interrupted(u->process, frame->pc, &frame->regs, &regs))
		return false;
	*caller = (struct xc_frame){
		.index = frame->index + 1, .interrupted = true, .trust = XC_TRUST_CONTEXT, .regs = regs};
	xc_unwind_place(u->process, caller, regs.value[u->process->arch->pc]);
	return arrived(u, frame, caller, stop);
}

/* Insert a function that left by a jump. Just before the jump its stack was as at its entry, one return address below
 * its caller's, and the registers that calls preserve were its caller's. Call frame information at the jump is not
 * used: compilers leave rules in it for registers that have been popped already. */
static void insert_tail_call(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	uint64_t sp;
	if (frame->signal || caller->interrupted || !xc_regs_get(&caller->regs, arch->sp, &sp))
		return;
	struct xc_lost_call lost = xc_tailcall_between(u->tailcalls, xc_frame_lookup(frame), caller->pc);
	if (!lost.pc)
		return;
	caller->tail_call = true;
	caller->tail_partial = lost.partial || frame->tail_partial;
	caller->tail_return = caller->pc;
	caller->signal = false;
	if (arch->lr < 0)
		xc_regs_set(&caller->regs, arch->sp, sp - arch->reg_size);
	xc_unwind_place(u->process, caller, lost.pc);
	caller->cfa = sp;
	caller->cfa_known = true;
}

/* The caller of an inserted function: the frame that was found before it was inserted. */
static bool step_tail_call(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	*caller = *frame;
	caller->index++;
	caller->tail_call = caller->tail_partial = false;
	caller->tail_return = 0;
	xc_regs_set(&caller->regs, arch->sp, frame->cfa);
	xc_unwind_place(u->process, caller, frame->tail_return);
	xc_unwind_describe(u, caller);
	return true;
}

/* The reason why a stack ends, with the damage that was skipped before. */
static const char *with_damage(struct xc_unwinder *u, const char *why)
{
	if (!u->damage[0])
		return why;
	char text[sizeof u->stop];
	snprintf(text, sizeof text, "%.60s%.99s", why, u->damage);
	memcpy(u->stop, text, sizeof text);
	return u->stop;
}

/* The return address was overwritten, and with it the registers that the frame had saved. Return addresses further up
 * may be intact: only one that call frame information confirms is taken. */
static bool step_over_damage(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	struct xc_frame from = *caller;
	xc_addr bad = caller->pc;
	from.index = frame->index;
	xc_unwind_forget(u->process->arch, &from.regs);
	if (!xc_unwind_scan(u, &from, caller) || xc_unwind_refuted(u, caller))
		return false;
	snprintf(u->damage, sizeof u->damage,
		 "; the return address of the frame at 0x%" PRIx64 " was overwritten (0x%" PRIx64 ")", frame->pc, bad);
	return true;
}

bool xc_unwind_step(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller_out,
		    const char **stop_out)
{
	struct xc_frame caller;
	const char *stop;
	if (!frame->tail_call && !frame->trampoline && (frame->first || xc_unwind_at_entry(u, frame))) {
		*stop_out = with_damage(u, outermost);
		return false;
	}
	bool done = frame->tail_call                ? step_tail_call(u, frame, &caller)
		    : frame->trampoline             ? step_trampoline(u, frame, &caller, &stop)
		    : xc_unwind_is_switch(u, frame) ? xc_unwind_goroutine(u, frame, &caller, &stop)
						    : step_row(u, frame, &caller, &stop);
	if (!done && !stop && xc_unwind_ends_thread(u, frame))
		stop = outermost;
	else if (!done && !stop)
		done = xc_unwind_bad_call(u, frame, &caller) || xc_unwind_guess(u, frame, &caller, &stop);
	else if (!done)
		done = xc_unwind_lost_pointer(u, frame, &caller);
	if (!done) {
		*stop_out = with_damage(u, stop ? stop
					   : u->guessing >= XC_MAX_GUESSING
						   ? "no call frame information here, and too much was guessed already"
						   : nothing_found);
		return false;
	}
	xc_addr pc = caller.pc;
	bool by_rules = !caller.interrupted && (caller.trust == XC_TRUST_CFI || caller.trust == XC_TRUST_PLUGIN);
	if (!xc_code_executable(u->process, pc) && by_rules && !caller.module && !step_over_damage(u, frame, &caller)) {
		snprintf(u->stop, sizeof u->stop, "return address 0x%" PRIx64 " is not in executable memory", pc);
		*stop_out = u->stop;
		return false;
	}
	if (caller.trust == XC_TRUST_CFI)
		insert_tail_call(u, frame, &caller);
	*caller_out = caller;
	return true;
}

void xc_unwinder_renew(struct xc_unwinder *u)
{
	u->guessing = 0;
}

void xc_unwinder_forget(struct xc_unwinder *u)
{
	memset(u->ordinary, 0, sizeof u->ordinary);
	free(u->epilogues);
	u->epilogues = NULL;
}

static bool begin(struct xc_unwinder *u, const struct xc_regs *regs, bool interrupted, struct xc_frame *frame_out)
{
	uint64_t pc;
	if (!xc_regs_get(regs, u->process->arch->pc, &pc))
		return false;
	struct xc_frame f = {.interrupted = interrupted, .trust = XC_TRUST_CONTEXT, .regs = *regs};
	u->damage[0] = '\0';
	xc_unwind_place(u->process, &f, pc);
	xc_unwind_describe(u, &f);
	if (interrupted && !f.cfa_known && !f.signal && (pc = xc_code_trampoline_before(u->process, pc))) {
		xc_unwind_place(u->process, &f, pc); /* in rt_sigreturn, and behind the last byte of its function */
		xc_unwind_describe(u, &f);
	}
	*frame_out = f;
	return true;
}

bool xc_unwind_first(struct xc_unwinder *u, const struct xc_thread *thread, struct xc_frame *frame_out)
{
	return thread->has_regs && begin(u, &thread->regs, true, frame_out);
}

bool xc_unwind_parked(struct xc_unwinder *u, const struct xc_regs *regs, struct xc_frame *frame_out)
{
	uint64_t pc;
	bool fresh = xc_regs_get(regs, u->process->arch->pc, &pc) &&
		     xc_function_range_of(u->process, xc_code_address(u->process, pc)).lo == pc;
	return begin(u, regs, fresh, frame_out);
}

bool xc_unwind_cfa(struct xc_unwinder *u, struct xc_frame *frame)
{
	if (!frame->cfa_known)
		xc_unwind_describe(u, frame);
	return frame->cfa_known;
}
