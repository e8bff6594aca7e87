/* unwind: one step at a time, best evidence first.
 *
 *   a row of call frame information ──→ CFA ──→ every register's rule           trust: cfi
 *   pc not executable (call through a bad pointer): [sp] is the return address  trust: scan
 *   no row: the frame pointer, where the function's code sets it up             trust: fp
 *           a word above sp that returns behind a call of this very function    trust: scan
 *           the word that its pushes and subtractions leave above them          trust: scan
 *           the first word above sp that returns behind any call                trust: scan
 *   a return address that cannot be one (overwritten stack): the same, above it trust: scan
 *
 * Every guess must land in executable memory, right behind a call instruction where the code is readable, and
 * every step must move up the stack, so that no stack loops. A signal trampoline may change stacks, but not often; and
 * guessing costs, so one unwinder does it only so much. */
#include "unwind.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "debugfile.h"
#include "prologue.h"
#include "symbol.h"
#include "tailcall.h"

enum {
	SCAN_WORDS = 512,
	MAX_CANDIDATES = 16,
	LOOK_AHEAD = 64,
	LONGEST_CALL = 7,
	MAX_GUESSING = 4 << 20, /* words scanned and steps looked ahead in all: about half a second */
	PROLOGUE_COST = 16,     /* about as long as it takes to scan that many words */
	MAX_DESCENTS = 64,
};

static const char outermost[] = "outermost frame";
static const char nothing_found[] = "no call frame information here, and nothing above looks like a return address";

struct xc_unwinder {
	const struct xc_process *process;
	struct xc_cfi *cfi;
	struct xc_tailcalls *tailcalls;
	uint64_t guessing; /* words scanned and steps looked ahead so far */
	char stop[160];
	char damage[100]; /* of the thread's stack: what was stepped over; part of the reason why it ends */
};

const char *xc_trust_text(enum xc_trust trust)
{
	static const char *const texts[] = {"context", "cfi", "fp", "scan"};
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
	xc_cfi_free(u->cfi);
	xc_tailcalls_free(u->tailcalls);
	free(u);
}

static const char *stop_at(struct xc_unwinder *u, const char *what, xc_addr addr)
{
	const struct xc_segment *s = xc_space_find(u->process->space, addr);
	if (addr == UINT64_MAX)
		snprintf(u->stop, sizeof u->stop, "%s needs a register that is not known", what);
	else
		snprintf(u->stop, sizeof u->stop, "%s at 0x%" PRIx64 ": %s", what, addr,
			 s && s->provenance <= XC_FROM_LIVE ? "points outside readable memory"
							    : xc_provenance_text(s ? s->provenance : XC_UNMAPPED));
	return u->stop;
}

/* ---- what code looks like ---- */

static bool executable(const struct xc_process *p, xc_addr addr)
{
	const struct xc_mapping *m = xc_process_mapping(p, addr);
	return m && m->executable;
}

/* x86: does a call instruction end at `ret`? direct_out is its target when it is a direct one (else 0). Code that
 * cannot be read gets the benefit of the doubt. */
static bool behind_call(const struct xc_process *p, xc_addr ret, xc_addr *direct_out)
{
	static const uint8_t lengths[] = {2, 3, 4, 6, 7};
	uint8_t code[LONGEST_CALL];
	*direct_out = 0;
	if (ret < LONGEST_CALL || xc_space_peek(p->space, ret - LONGEST_CALL, code, LONGEST_CALL) != LONGEST_CALL)
		return true;
	if (code[2] == 0xe8) { /* call rel32 */
		int32_t relative;
		memcpy(&relative, code + 3, sizeof relative);
		*direct_out = ret + (uint64_t)(int64_t)relative;
		return true;
	}
	for (size_t i = 0; i < XC_COUNT(lengths); i++) { /* call r/m64: FF /2 */
		const uint8_t *at = code + LONGEST_CALL - lengths[i];
		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

static bool plausible_return(const struct xc_process *p, xc_addr ret, xc_addr *direct_out)
{
	return ret && executable(p, ret) && behind_call(p, ret, direct_out);
}

/* The first address of the function that holds pc, or 0. */
static xc_addr function_start(const struct xc_process *p, xc_addr pc)
{
	struct xc_module *m = xc_process_module(p, pc);
	const struct xc_symbol *s = m ? xc_symtab_at(xc_debugfile_symbols(xc_debugfile_of(p, m)), pc - m->bias) : NULL;
	return s ? m->bias + s->value : 0;
}

/* ---- steps ---- */

static void set_place(const struct xc_process *p, struct xc_frame *f, xc_addr pc)
{
	xc_regs_set(&f->regs, p->arch->pc, pc);
	f->pc = pc;
	f->module = xc_process_module(p, xc_frame_lookup(f));
}

static void describe(struct xc_unwinder *u, struct xc_frame *f)
{
	const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(f));
	xc_addr missing;
	/* The return address of a handler is the first byte of its trampoline, behind no call. glibc's covers the byte
	 * before as well; others are found at pc itself. */
	if (!row->found && !f->interrupted) {
		const struct xc_cfi_row *exact = xc_cfi_row(u->cfi, f->pc);
		if (exact->signal) {
			row = exact;
			f->interrupted = true;
			f->module = xc_process_module(u->process, f->pc);
		}
	}
	f->signal = row->signal;
	f->cfa_known = row->found && xc_cfi_cfa(u->process, row, &f->regs, &f->cfa, &missing);
}

/* A caller whose registers other than pc, sp and perhaps fp are what they were (nothing is known to have
 * saved them). */
static void guessed_caller(struct xc_unwinder *u, const struct xc_frame *frame, enum xc_trust trust, xc_addr pc,
			   xc_addr sp, struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	*caller = *frame;
	caller->index = frame->index + 1;
	caller->trust = trust;
	caller->interrupted = caller->signal = false;
	caller->regs.vector = NULL;
	xc_regs_set(&caller->regs, arch->sp, sp);
	set_place(u->process, caller, pc);
	describe(u, caller);
}

static void forget_general(const struct xc_arch *arch, struct xc_regs *regs, uint64_t fp)
{
	for (int i = 0; i < arch->frame_regs; i++)
		if (i != arch->sp && i != arch->pc)
			xc_regs_forget(regs, i);
	xc_regs_set(regs, arch->fp, fp);
}

static bool step_frame_pointer(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t fp, sp, saved, ret, word = p->arch->word;
	xc_addr direct;
	if (!xc_regs_get(&frame->regs, p->arch->fp, &fp) || !xc_regs_get(&frame->regs, p->arch->sp, &sp) || fp < sp ||
	    fp % word || !xc_space_peek_uint(p->space, fp, word, &saved) ||
	    !xc_space_peek_uint(p->space, fp + word, word, &ret) || !plausible_return(p, ret, &direct))
		return false;
	struct xc_frame from = *frame;
	forget_general(p->arch, &from.regs, saved);
	guessed_caller(u, &from, XC_TRUST_FP, ret, fp + 2 * word, caller);
	return true;
}

static bool step_row(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller, const char **stop);

/* Does call frame information speak against this frame: does the stack from here on break off, other than at an
 * outermost frame or where there is no such information? Behind a scan only sp can be relied on, so a frame that
 * is found by another register ends the test. */
static bool refuted(struct xc_unwinder *u, const struct xc_frame *from)
{
	struct xc_frame at = *from, next;
	const char *stop = NULL;
	for (size_t i = 0; i < LOOK_AHEAD; i++) {
		const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(&at));
		if (!row->found || row->cfa_reg != u->process->arch->sp)
			return false;
		u->guessing++;
		if (!step_row(u, &at, &next, &stop))
			return stop != outermost;
		at = next;
		if (!executable(u->process, at.pc))
			return true;
	}
	return false;
}

/* The caller if the word number `index` above sp is the return address. */
static void caller_at_word(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr ret, xc_addr sp, size_t index,
			   struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	struct xc_frame from = *frame;
	uint64_t fp = 0;
	bool fp_known = xc_regs_get(&frame->regs, arch->fp, &fp);
	if (index) { /* something was pushed: callee-saved registers may have been changed */
		forget_general(arch, &from.regs, fp);
		if (!fp_known)
			xc_regs_forget(&from.regs, arch->fp);
	}
	guessed_caller(u, &from, XC_TRUST_SCAN, ret, sp + (index + 1) * arch->word, caller);
}

/* Scan words from sp up; with `target`, only for a return behind a direct call of it. Without, old return addresses may
 * lie about in locals: the first one that is not refuted wins, else the first of all. */
static bool step_scan(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr target, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, ret, word = p->arch->word;
	struct xc_frame candidate;
	size_t candidates = 0;
	xc_addr direct;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &sp))
		return false;
	for (size_t i = 0; i < SCAN_WORDS && candidates < MAX_CANDIDATES && u->guessing < MAX_GUESSING; i++) {
		u->guessing++;
		if (!xc_space_peek_uint(p->space, sp + i * word, word, &ret))
			break;
		if (!plausible_return(p, ret, &direct) || (target && direct != target))
			continue;
		caller_at_word(u, frame, ret, sp, i, &candidate);
		if (candidates++ == 0)
			*caller = candidate;
		if (target)
			return true;
		if (!refuted(u, &candidate)) {
			*caller = candidate;
			return true;
		}
	}
	return candidates > 0;
}

/* The return address stands where the function's first instructions say, and nothing speaks against it. */
static bool step_prologue(struct xc_unwinder *u, const struct xc_frame *frame, uint64_t depth, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, ret, word = p->arch->word;
	xc_addr direct;
	if (depth / word >= SCAN_WORDS || depth % word || !xc_regs_get(&frame->regs, p->arch->sp, &sp) ||
	    !xc_space_peek_uint(p->space, sp + depth, word, &ret) || !plausible_return(p, ret, &direct))
		return false;
	u->guessing += PROLOGUE_COST;
	caller_at_word(u, frame, ret, sp, depth / word, caller);
	return u->guessing < MAX_GUESSING && !refuted(u, caller);
}

/* No call frame information. Where the function keeps a frame pointer, the chain is right; where it does not, the
 * chain would skip its caller, so the stack is scanned: first for a return behind a call of this very function. */
static bool step_without_cfi(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	xc_addr pc = xc_frame_lookup(frame), start = function_start(u->process, pc);
	struct xc_prologue prologue = xc_prologue_read(u->process, start, pc);
	if (prologue.frame_pointer && step_frame_pointer(u, frame, caller))
		return true;
	if (start && frame->interrupted && step_scan(u, frame, start, caller))
		return true;
	if (prologue.known && !prologue.frame_pointer &&
	    (step_prologue(u, frame, prologue.depth, caller) || step_scan(u, frame, 0, caller)))
		return true;
	return step_frame_pointer(u, frame, caller) || step_scan(u, frame, 0, caller);
}

/* The call went to a place that holds no code: nothing ran there, so the stack is as the call left it. */
static bool step_bad_call(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, ret;
	xc_addr direct;
	if (!frame->interrupted || executable(p, frame->pc) || !xc_regs_get(&frame->regs, p->arch->sp, &sp) ||
	    !xc_space_peek_uint(p->space, sp, p->arch->word, &ret) || !plausible_return(p, ret, &direct))
		return false;
	guessed_caller(u, frame, XC_TRUST_SCAN, ret, sp + p->arch->word, caller);
	return true;
}

/* Before a tail call the saved registers have been popped, but compilers leave the rules as they were: the slots are below
 * sp, dead, and the registers hold what the rules would restore. */
static bool already_restored(const struct xc_process *p, const struct xc_frame *frame, const struct xc_cfi_rule *rule)
{
	uint64_t sp;
	return frame->tail_call && rule->kind == XC_CFI_AT_CFA && xc_regs_get(&frame->regs, p->arch->sp, &sp) &&
	       frame->cfa + (uint64_t)rule->offset < sp;
}

/* The caller's registers by the row's rules; false with *stop set when the return address cannot be had. */
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
	struct xc_regs regs = frame->regs;
	for (int i = 0; i < row->rule_count; i++) {
		if (row->rules[i].kind == XC_CFI_SAME || already_restored(p, frame, &row->rules[i]))
			continue;
		if (xc_cfi_register(p, row, i, &frame->regs, frame->cfa, &value, &missing))
			xc_regs_set(&regs, i, value);
		else
			xc_regs_forget(&regs, i);
	}
	for (int i = row->rule_count; i < XC_REG_MAX; i++) /* flags and segments; the thread pointer stays */
		if (i != 58 && i != 59)
			xc_regs_forget(&regs, i);
	regs.vector = NULL;
	*caller = (struct xc_frame){.index = frame->index + 1,
				    .interrupted = row->signal,
				    .trust = row->signal ? XC_TRUST_CONTEXT : XC_TRUST_CFI,
				    .regs = regs};
	set_place(p, caller, pc);
	return true;
}

/* Upward, or to another stack across a trampoline. */
static bool advances(const struct xc_process *p, const struct xc_frame *frame, struct xc_frame *caller)
{
	uint64_t before, after;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &before) || !xc_regs_get(&caller->regs, p->arch->sp, &after))
		return false;
	caller->descents = frame->descents + (after < before);
	return after > before || (frame->signal && after != before);
}

static bool step_row(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller, const char **stop)
{
	const struct xc_cfi_row *row = xc_cfi_row(u->cfi, xc_frame_lookup(frame));
	*stop = NULL;
	if (!row->found || !frame->cfa_known) {
		*stop = row->found ? stop_at(u, "the frame address", UINT64_MAX) : NULL;
		return false;
	}
	if (!apply_row(u, row, frame, caller, stop))
		return false;
	if (caller->pc == 0) {
		*stop = "outermost frame (return address 0)";
		return false;
	}
	if (!advances(u->process, frame, caller)) {
		*stop = "the stack does not go up any more: damaged, or the call frame information is wrong";
		return false;
	}
	if (caller->descents > MAX_DESCENTS) {
		*stop = "signal handlers on more stacks than can be: the stack is damaged";
		return false;
	}
	describe(u, caller);
	return true;
}

/* A function that left by a jump: as it was just before the jump, its stack was as at its entry, one return address
 * below its caller's, and the registers that calls preserve were its caller's. So it is a frame like any other, and
 * steps on to that caller. */
static void insert_tail_call(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	uint64_t sp;
	if (frame->signal || caller->interrupted || !xc_regs_get(&caller->regs, arch->sp, &sp))
		return;
	xc_addr pc = xc_tailcall_between(u->tailcalls, xc_frame_lookup(frame), caller->pc);
	if (!pc)
		return;
	caller->tail_call = true;
	xc_regs_set(&caller->regs, arch->sp, sp - arch->word);
	set_place(u->process, caller, pc);
	describe(u, caller);
}

/* Why a stack ends, and what was stepped over before. */
static const char *with_damage(struct xc_unwinder *u, const char *why)
{
	if (!u->damage[0])
		return why;
	char text[sizeof u->stop];
	snprintf(text, sizeof text, "%.60s%.99s", why, u->damage);
	memcpy(u->stop, text, sizeof text);
	return u->stop;
}

/* The return address was overwritten, and with it what the frame had saved. Further up there may be words that were not:
 * only one that call frame information confirms is taken. */
static bool step_over_damage(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	struct xc_frame from = *caller;
	xc_addr bad = caller->pc;
	from.index = frame->index;
	forget_general(u->process->arch, &from.regs, 0);
	xc_regs_forget(&from.regs, u->process->arch->fp);
	if (!step_scan(u, &from, 0, caller) || refuted(u, caller))
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
	bool done = step_row(u, frame, &caller, &stop);
	if (!done && !stop)
		done = step_bad_call(u, frame, &caller) || step_without_cfi(u, frame, &caller);
	if (!done) {
		*stop_out = with_damage(u, stop ? stop
					   : u->guessing >= MAX_GUESSING
						   ? "no call frame information here, and too much was guessed already"
						   : nothing_found);
		return false;
	}
	xc_addr pc = caller.pc;
	if (!executable(u->process, pc) && caller.trust == XC_TRUST_CFI && !caller.module &&
	    !step_over_damage(u, frame, &caller)) {
		snprintf(u->stop, sizeof u->stop, "return address 0x%" PRIx64 " is not in executable memory", pc);
		*stop_out = u->stop;
		return false;
	}
	if (caller.trust == XC_TRUST_CFI)
		insert_tail_call(u, frame, &caller);
	*caller_out = caller;
	return true;
}

bool xc_unwind_first(struct xc_unwinder *u, const struct xc_thread *thread, struct xc_frame *frame_out)
{
	uint64_t pc;
	if (!thread->has_regs || !xc_regs_get(&thread->regs, u->process->arch->pc, &pc))
		return false;
	struct xc_frame f = {.interrupted = true, .trust = XC_TRUST_CONTEXT, .regs = thread->regs};
	u->damage[0] = '\0';
	set_place(u->process, &f, pc);
	describe(u, &f);
	*frame_out = f;
	return true;
}

bool xc_unwind_cfa(struct xc_unwinder *u, struct xc_frame *frame)
{
	if (!frame->cfa_known)
		describe(u, frame);
	return frame->cfa_known;
}
