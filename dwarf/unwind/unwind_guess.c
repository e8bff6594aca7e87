/* unwind_guess: callers without call frame information.
 *
 * Where calls push the return address (x86): the frame pointer if the function's code sets it up; without a symbol, a
 * word above sp behind a call of code that leads here and leaves just that word above its own; where the function's
 * code will return to; a word above sp that returns after a call of this very function; the word above what its pushes
 * and subtractions take; the first word that returns behind any call. Where calls leave it in a link register: that
 * register while the function has not stored it, else where its first instructions stored it, or where its last ones
 * load it from; then the frame pointer or the chain of frames; then a word on the stack.
 *
 * Chains, in words (AAPCS64 2022Q3, 6.4.6; AAPCS32 as gcc lays frames out with -marm; RISC-V ELF psABI 1.0, "Frame
 * Pointer Convention"; 64-Bit ELF V2 ABI 1.5, 2.2.2):
 *
 *     x86, fp → saved fp, return        aarch64, fp → saved fp, return        arm, fp → return; saved fp below
 *     riscv64, below fp: return, below that: saved fp; fp is the caller's sp
 *     ppc64, sp → the caller's sp → its sp, condition register, return address of the frame below
 *
 * Every guess must be in executable memory, right after a call instruction if the code can be read. A direct call that
 * leads elsewhere (reach.h) is taken only where nothing better is found. */
#include <elf.h>

#include "dwarf/decode/code.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/unwind/prologue.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/unwind/unwind_impl.h"

enum {
	PROLOGUE_COST = 16, /* about the time to scan that many words */
	FEW_PAGES = 4 << 10,
	NEAR_WORDS = 64, /* more than most frames have */
	LINK_PPC64 = 16, /* from a frame's back chain to where its callee saves its return address */
};

/* The code pointer to the first instruction of the function that holds pc, or 0. */
static xc_addr function_start(const struct xc_process *p, xc_addr pc)
{
	struct xc_module *m = xc_process_module(p, pc);
	const struct xc_symbol *s = m ? xc_symbol_at(p, m, pc - m->bias) : NULL;
	return s ? m->bias + s->value + s->thumb : 0;
}

/* A caller whose registers other than pc, sp and perhaps fp are unchanged, since nothing is known to have saved them.
 */
void xc_unwind_guessed(struct xc_unwinder *u, const struct xc_frame *frame, enum xc_trust trust, uint64_t pc,
		       xc_addr sp, struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	*caller = *frame;
	caller->index = frame->index + 1;
	caller->trust = trust;
	caller->interrupted = caller->signal = caller->trampoline = false;
	caller->regs.vector = NULL;
	xc_regs_set(&caller->regs, arch->sp, xc_arch_wrap(arch, sp));
	xc_regs_forget(&caller->regs, arch->lr);
	xc_unwind_place(u->process, caller, pc);
	xc_unwind_describe(u, caller);
}

bool xc_unwind_load(const struct xc_process *p, xc_addr addr, uint64_t *value)
{
	return xc_space_peek_uint(p->space, xc_arch_wrap(p->arch, addr), p->arch->reg_size, value);
}

/* ---- chains ---- */

struct record {
	uint64_t ret, fp;
	xc_addr sp; /* of the caller */
};

/* Also accepts the trampoline of a signal handler, which nothing calls, at a place that is known to hold the return
 * address. */
bool xc_unwind_returns(const struct xc_process *p, uint64_t ret, xc_addr *target)
{
	*target = 0;
	return xc_code_returns(p, ret, target) || (p->arch->lr < 0 && xc_code_is_trampoline(p, ret));
}

/* Read the record that fp points to. */
static bool read_record(const struct xc_process *p, uint64_t fp, struct record *r)
{
	uint64_t word = p->arch->reg_size;
	switch (p->arch->machine) {
	case EM_ARM:
		r->sp = fp + word;
		return xc_unwind_load(p, fp - word, &r->fp) && xc_unwind_load(p, fp, &r->ret);
	case EM_RISCV:
		r->sp = fp;
		return xc_unwind_load(p, fp - 2 * word, &r->fp) && xc_unwind_load(p, fp - word, &r->ret);
	default:
		r->sp = fp + 2 * word;
		return xc_unwind_load(p, fp, &r->fp) && xc_unwind_load(p, fp + word, &r->ret);
	}
}

/* Generated code (of no module) may jump where compilers call, after a return address that it pushed itself, as
 * HotSpot's interpreter does (OpenJDK 17, templateTable_x86.cpp, prepare_invoke). There the chain itself is the
 * evidence: it leads up. */
static bool is_chained(const struct xc_process *p, const struct xc_frame *frame, const struct record *r)
{
	const struct xc_segment *stack = xc_space_find(p->space, r->sp);
	return !frame->module && stack && r->fp >= r->sp && r->fp <= stack->hi && r->fp % p->arch->reg_size == 0 &&
	       xc_code_executable(p, r->ret);
}

static bool step_frame_pointer(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t fp, sp;
	struct record r;
	xc_addr target;
	bool panics = xc_unwind_panics(u, frame);
	if (!xc_unwind_pointer(p, frame, &fp) || !xc_regs_get(&frame->regs, p->arch->sp, &sp) || fp < sp ||
	    fp % p->arch->reg_size || !read_record(p, fp, &r) ||
	    (!xc_unwind_returns(p, r.ret, &target) && !is_chained(p, frame, &r) &&
	     !(panics && xc_code_executable(p, r.ret))))
		return false;
	if (p->arch->lr < 0)
		r.sp = xc_unwind_sp_above(p, fp + p->arch->reg_size, r.ret);
	/* The record is at the low end of the frame that gcc makes for aarch64, and its code counts from sp. */
	if (p->arch->machine == EM_AARCH64 && r.fp > r.sp)
		r.sp = r.fp;
	struct xc_frame from = *frame;
	xc_unwind_forget(p->arch, &from.regs);
	xc_regs_set(&from.regs, p->arch->fp, r.fp);
	from.fp_left = false;
	xc_unwind_guessed(u, &from, XC_TRUST_FP, r.ret, r.sp, caller);
	if (panics)
		xc_unwind_faulted(u, caller);
	return true;
}

/* ppc64. While a function has no frame yet, sp is its caller's. Its return address is in the link register until it
 * is saved, which happens before. */
static bool step_back_chain(struct xc_unwinder *u, const struct xc_frame *frame, const struct xc_prologue *prologue,
			    struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, above, ret;
	xc_addr target;
	bool own_frame = !frame->interrupted || !prologue->known || prologue->depth > 0;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &sp))
		return false;
	above = sp;
	if (own_frame && (!xc_unwind_load(p, sp, &above) || above <= sp))
		return false;
	bool saved = !frame->interrupted || !prologue->known || prologue->link_saved;
	if (saved ? !xc_unwind_load(p, above + LINK_PPC64, &ret) : !xc_regs_get(&frame->regs, p->arch->lr, &ret))
		return false;
	if (!xc_code_returns(p, ret, &target))
		return false;
	struct xc_frame from = *frame;
	if (own_frame)
		xc_unwind_forget(p->arch, &from.regs);
	xc_unwind_guessed(u, &from, XC_TRUST_FP, ret, above, caller);
	return true;
}

/* ---- prologues ---- */

/* x86: the return address is where the function's first instructions put it, and nothing contradicts it. */
static bool step_prologue(struct xc_unwinder *u, const struct xc_frame *frame, uint64_t depth, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, ret, word = p->arch->reg_size;
	xc_addr target;
	if (depth / word >= XC_SCAN_WORDS || depth % word || !xc_regs_get(&frame->regs, p->arch->sp, &sp) ||
	    !xc_unwind_load(p, sp + depth, &ret) || !xc_unwind_returns(p, ret, &target) ||
	    !xc_unwind_is_credible(u, frame, target))
		return false;
	u->guessing += PROLOGUE_COST;
	xc_unwind_at_word(u, frame, ret, sp, depth / word, caller);
	return u->guessing < XC_MAX_GUESSING && !xc_unwind_refuted(u, caller);
}

/* x86: likewise by all of the function's instructions up to pc, which also show where the stack ends: at a return
 * address of 0, or one that no call left (xc_unwind_made_by_hand). */
static bool step_depth(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller, const char **stop)
{
	const struct xc_process *p = u->process;
	struct xc_function_range range = xc_function_range_of(p, xc_frame_lookup(frame));
	uint64_t sp, ret, depth, word = p->arch->reg_size;
	xc_addr target;
	if (!range.hi || u->guessing >= XC_MAX_GUESSING || !xc_regs_get(&frame->regs, p->arch->sp, &sp) ||
	    !xc_epilogue_depth(p, range.lo, range.hi, frame->pc, &depth, &u->guessing) || depth % word ||
	    !xc_unwind_load(p, sp + depth, &ret))
		return false;
	if (!ret) {
		*stop = xc_unwind_null_return(p, sp + depth);
		return false;
	}
	if (xc_unwind_returns(p, ret, &target))
		return step_prologue(u, frame, depth, caller);
	xc_unwind_at_word(u, frame, ret, sp, depth / word, caller);
	return caller->first;
}

/* x86, code without a symbol: the function begins where a call leads whose return address is above sp, if its
 * instructions from there to here leave just that word above them. The code behind pc need not be of the function: its
 * last call may not return. The nearest such word is the right one. */
static bool step_called(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, ret, depth, word = p->arch->reg_size;
	xc_addr target, pc = frame->pc;
	if (frame->interrupted || !xc_regs_get(&frame->regs, p->arch->sp, &sp))
		return false;
	for (size_t i = 0; i < NEAR_WORDS && u->guessing < XC_MAX_GUESSING; i++) {
		u->guessing++;
		if (!xc_unwind_load(p, sp + i * word, &ret))
			break;
		if (!xc_code_returns(p, ret, &target) || !target || target >= pc || pc - target > FEW_PAGES ||
		    !xc_epilogue_depth(p, target, pc, pc, &depth, &u->guessing) || depth != i * word)
			continue;
		xc_unwind_at_word(u, frame, ret, sp, i, caller);
		return true;
	}
	return false;
}

/* The caller's registers: those that the prologue stored and, while it did nothing else, those that it did not. */
static void restore_saved(const struct xc_process *p, const struct xc_prologue *prologue, uint64_t sp,
			  struct xc_regs *regs)
{
	uint64_t value;
	if (!prologue->whole)
		xc_unwind_forget(p->arch, regs);
	for (int reg = 0; reg < 32; reg++)
		if ((prologue->saved >> reg & 1) && xc_arch_has(p->arch->preserved, reg) &&
		    xc_unwind_load(p, sp + prologue->depth - (uint64_t)(int64_t)prologue->below[reg], &value))
			xc_regs_set(regs, reg, value);
}

/* As far as the function's instructions were understood, the link register was not stored. Was it set by a call that
 * the function made since? Then it points into the function; a function without a name is assumed to have a few
 * pages. */
static bool left_by_own_call(const struct xc_process *p, const struct xc_frame *frame, xc_addr ret)
{
	xc_addr pc = xc_frame_lookup(frame), ours = function_start(p, pc), its = function_start(p, ret - 1);
	if (ours || its)
		return ours == its;
	return ret < pc ? pc - ret < FEW_PAGES : ret - pc < FEW_PAGES;
}

/* Machines with a link register: it holds the return address, or the function has stored it. */
static bool step_link(struct xc_unwinder *u, const struct xc_frame *frame, const struct xc_prologue *prologue,
		      struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, ret;
	xc_addr target;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &sp) ||
	    (prologue->link_saved ? !xc_unwind_load(p, sp + prologue->depth - (uint64_t)prologue->link_below, &ret)
				  : !frame->interrupted || !xc_regs_get(&frame->regs, p->arch->lr, &ret)) ||
	    !xc_code_returns(p, ret, &target))
		return false;
	if (!prologue->link_saved && !prologue->whole && left_by_own_call(p, frame, xc_code_address(p, ret)))
		return false;
	struct xc_frame from = *frame;
	restore_saved(p, prologue, sp, &from.regs);
	u->guessing += PROLOGUE_COST;
	xc_unwind_guessed(u, &from, XC_TRUST_SCAN, ret, sp + prologue->depth, caller);
	return u->guessing < XC_MAX_GUESSING && !xc_unwind_refuted(u, caller);
}

static struct xc_prologue prologue_of(const struct xc_process *p, const struct xc_frame *frame, xc_addr *start_out)
{
	xc_addr pc = xc_frame_lookup(frame);
	*start_out = function_start(p, pc);
	return xc_prologue_read(p, *start_out, pc);
}

bool xc_unwind_in_prologue(const struct xc_process *p, const struct xc_frame *frame)
{
	xc_addr start;
	struct xc_prologue prologue = prologue_of(p, frame, &start);
	return prologue.known && prologue.whole;
}

/* ---- frame pointers of code that is not known to set one up ---- */

/* Such code may leave the frame pointer as it is: then the chain skips the caller. That shows when the call behind
 * which the chain returns cannot have led here, or when a return address below leads by call frame information to just
 * where the chain does. A chain that is doubted, where nothing else is found, is a guess, but not where it led here
 * already: such code keeps it. */
static bool step_doubtful_pointer(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	struct xc_frame skipped;
	uint64_t after;
	xc_addr target;
	if (!step_frame_pointer(u, frame, caller))
		return false;
	if (caller->interrupted || !xc_regs_get(&caller->regs, p->arch->sp, &after))
		return true;
	bool doubted = xc_unwind_returns(p, caller->pc, &target) && !xc_unwind_is_credible(u, frame, target);
	if (xc_unwind_scan_words(u, frame, 0, after - 2 * (uint64_t)p->arch->reg_size, &skipped) == XC_SCAN_BEST &&
	    (doubted || xc_unwind_leads_to(u, &skipped, after)))
		*caller = skipped;
	else if (doubted && frame->trust != XC_TRUST_FP)
		caller->trust = XC_TRUST_SCAN;
	return true;
}

/* Does the chain end here? The function sets up the frame pointer, and its return address is 0, or code of a module
 * that no call precedes (xc_unwind_made_by_hand): then that is its caller. */
static bool step_chain_end(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
			   const char **stop)
{
	struct record r;
	uint64_t fp, sp;
	if (frame->interrupted || !xc_regs_get(&frame->regs, u->process->arch->fp, &fp) ||
	    !xc_regs_get(&frame->regs, u->process->arch->sp, &sp) || fp < sp || !read_record(u->process, fp, &r))
		return false;
	if (r.ret == 0) {
		*stop = XC_OUTERMOST_NULL;
		return false;
	}
	struct xc_frame from = *frame;
	xc_unwind_forget(u->process->arch, &from.regs);
	xc_unwind_guessed(u, &from, XC_TRUST_FP, r.ret, r.sp, caller);
	return caller->first;
}

static bool same_caller(const struct xc_arch *arch, const struct xc_frame *a, const struct xc_frame *b)
{
	uint64_t sp, other;
	return a->pc == b->pc && xc_regs_get(&a->regs, arch->sp, &sp) && xc_regs_get(&b->regs, arch->sp, &other) &&
	       sp == other;
}

/* By the code that returns; by the frame pointer, too, when that agrees. */
static bool step_way_out(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
			 const char **stop)
{
	struct xc_frame by_chain;
	if (!xc_unwind_way_out(u, frame, caller, stop))
		return false;
	if (step_frame_pointer(u, frame, &by_chain) && same_caller(u->process->arch, caller, &by_chain))
		caller->trust = XC_TRUST_FP;
	return true;
}

/* The code tells more than the chain only where the frame pointer is not set up yet, or not any more. */
static bool step_chain(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	struct xc_frame by_code;
	const char *stop = NULL;
	if (!step_frame_pointer(u, frame, caller))
		return false;
	if (frame->interrupted && xc_unwind_way_out(u, frame, &by_code, &stop) &&
	    !same_caller(u->process->arch, caller, &by_code))
		*caller = by_code;
	return true;
}

/* If the function keeps a frame pointer, the chain is right. If it does not, the chain would skip its caller, so its
 * code tells, or the stack is scanned: first for a return after a call of this very function. */
static bool guess_pushed(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
			 const char **stop)
{
	xc_addr start;
	bool in_go = xc_unwind_in_go(u, frame);
	struct xc_prologue prologue = prologue_of(u->process, frame, &start);
	bool chained = prologue.frame_pointer || (!frame->interrupted && in_go);
	if (chained && (in_go ? step_frame_pointer(u, frame, caller) : step_chain(u, frame, caller)))
		return true;
	if (prologue.frame_pointer && step_chain_end(u, frame, caller, stop))
		return true;
	if (!in_go && !*stop && !start && step_called(u, frame, caller))
		return true;
	if (!in_go && !*stop && step_way_out(u, frame, caller, stop))
		return true;
	if (*stop)
		return false;
	if (start && frame->interrupted && xc_unwind_scan_words(u, frame, start, UINT64_MAX, caller))
		return true;
	if (!in_go && step_depth(u, frame, caller, stop))
		return true;
	if (*stop)
		return false;
	if (prologue.known && !prologue.frame_pointer &&
	    (step_prologue(u, frame, prologue.depth, caller) || xc_unwind_scan(u, frame, caller)))
		return true;
	return step_doubtful_pointer(u, frame, caller) || xc_unwind_scan(u, frame, caller);
}

static bool guess_linked(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller,
			 const char **stop)
{
	xc_addr start;
	struct xc_prologue prologue = prologue_of(u->process, frame, &start);
	if (u->process->arch->machine == EM_PPC64) /* where the chain ends, the stack ends */
		return step_back_chain(u, frame, &prologue, caller) ||
		       (frame->interrupted && xc_unwind_scan(u, frame, caller));
	bool understood = frame->interrupted ? prologue.whole : prologue.known;
	if ((!understood && step_way_out(u, frame, caller, stop)) || step_link(u, frame, &prologue, caller) ||
	    (understood && step_way_out(u, frame, caller, stop)))
		return true;
	return !*stop && (step_doubtful_pointer(u, frame, caller) || xc_unwind_scan(u, frame, caller));
}

bool xc_unwind_guess(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller, const char **stop)
{
	return u->process->arch->lr < 0 ? guess_pushed(u, frame, caller, stop) : guess_linked(u, frame, caller, stop);
}

/* As xc_unwind_scan, for the first return address with a frame pointer below it that leads up. */
static bool step_scan_chain(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, ret, fp, word = p->arch->reg_size;
	xc_addr target;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &sp))
		return false;
	for (size_t i = 1; i < XC_SCAN_WORDS && u->guessing < XC_MAX_GUESSING; i++) {
		u->guessing++;
		if (!xc_unwind_load(p, sp + i * word, &ret))
			break;
		if (xc_code_returns(p, ret, &target) && xc_unwind_pushed_pointer(p, sp + i * word, &fp)) {
			xc_unwind_at_word(u, frame, ret, sp, i, caller);
			return true;
		}
	}
	return false;
}

bool xc_unwind_lost_pointer(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(frame));
	uint64_t fp;
	if (arch->lr >= 0 || !row->found || row->cfa_reg != arch->fp || xc_regs_get(&frame->regs, arch->fp, &fp))
		return false;
	xc_addr start = function_start(u->process, xc_frame_lookup(frame));
	return (start && xc_unwind_scan_words(u, frame, start, UINT64_MAX, caller)) ||
	       step_scan_chain(u, frame, caller) || xc_unwind_scan(u, frame, caller);
}

/* The call went to a place without code: nothing ran there, so the stack is as the call left it. */
bool xc_unwind_bad_call(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	bool pushed = p->arch->lr < 0;
	uint64_t sp, ret;
	xc_addr target;
	if (!frame->interrupted || xc_code_executable(p, frame->pc) || !xc_regs_get(&frame->regs, p->arch->sp, &sp) ||
	    !(pushed ? xc_unwind_load(p, sp, &ret) : xc_regs_get(&frame->regs, p->arch->lr, &ret)) ||
	    !xc_code_returns(p, ret, &target))
		return false;
	xc_unwind_guessed(u, frame, XC_TRUST_SCAN, ret, pushed ? sp + p->arch->reg_size : sp, caller);
	return true;
}
