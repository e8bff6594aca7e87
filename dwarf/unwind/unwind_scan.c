/* unwind_scan: words on the stack that may be return addresses. */
#include <elf.h>

#include "dwarf/decode/code.h"
#include "dwarf/unwind/prologue.h"
#include "dwarf/unwind/unwind_impl.h"

enum {
	MAX_CANDIDATES = 16,
	MOST_ALIGNED = 256,
	LOCAL_ENTRY = 8, /* ppc64: calls within a module skip the instructions that set r2 */
};

/* Code of no module may push a return address itself and jump (unwind_guess.c, is_chained). */
static bool in_generated_code(const struct xc_process *p, xc_addr ret)
{
	return xc_code_executable(p, ret) && !xc_process_module(p, ret);
}

bool xc_unwind_is_chained(const struct xc_process *p, uint64_t fp, xc_addr ret_at)
{
	uint64_t ret, word = p->arch->reg_size;
	xc_addr target;
	return fp > ret_at && fp % word == 0 && xc_unwind_load(p, fp + word, &ret) &&
	       (xc_code_returns(p, ret, &target) || in_generated_code(p, ret));
}

bool xc_unwind_pushed_pointer(const struct xc_process *p, xc_addr ret_at, uint64_t *fp)
{
	uint64_t pushed;
	if (!xc_unwind_load(p, ret_at - p->arch->reg_size, &pushed) || !xc_unwind_is_chained(p, pushed, ret_at))
		return false;
	*fp = pushed;
	return true;
}

bool xc_unwind_pointer(const struct xc_process *p, const struct xc_frame *frame, uint64_t *fp)
{
	return xc_regs_get(&frame->regs, p->arch->fp, fp) ||
	       (frame->fp_left && xc_regs_left(&frame->regs, p->arch->fp, fp));
}

bool xc_unwind_keeps_pointer(struct xc_unwinder *u, xc_addr ret)
{
	const struct xc_process *p = u->process;
	const struct xc_cfi_row *row = xc_cfi_row(u->cfi, ret - 1);
	struct xc_function_range range = xc_function_range_of(p, ret - 1);
	return row->found ? row->cfa_reg == p->arch->fp
			  : !range.lo || xc_prologue_read(p, range.lo, ret - 1).frame_pointer;
}

xc_addr xc_unwind_sp_above(const struct xc_process *p, xc_addr ret_at, uint64_t ret)
{
	uint64_t sp, original, word = p->arch->reg_size;
	const xc_addr above = ret_at + word;
	bool copied = xc_unwind_load(p, ret_at - 2 * word, &sp) && sp > above && sp - above < MOST_ALIGNED &&
		      sp % word == 0 && xc_unwind_load(p, sp - word, &original) && original == ret;
	return copied ? sp : above;
}

void xc_unwind_at_word(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr ret, xc_addr sp, size_t index,
		       struct xc_frame *caller)
{
	const struct xc_arch *arch = u->process->arch;
	const xc_addr ret_at = sp + index * arch->reg_size;
	struct xc_frame from = *frame;
	uint64_t fp = 0;
	if (index) { /* registers were pushed: callee-saved ones may have changed */
		bool has_fp = xc_unwind_pointer(u->process, frame, &fp), keeps = xc_unwind_keeps_pointer(u, ret);
		bool chained = keeps && (xc_unwind_pushed_pointer(u->process, ret_at, &fp) ||
					 (has_fp && xc_unwind_is_chained(u->process, fp, ret_at)));
		xc_unwind_forget(arch, &from.regs);
		if (chained || (has_fp && arch->lr >= 0))
			xc_regs_set(&from.regs, arch->fp, fp);
		from.fp_left = has_fp && !chained && arch->lr < 0;
	}
	xc_unwind_guessed(u, &from, XC_TRUST_SCAN, ret, xc_unwind_sp_above(u->process, ret_at, ret), caller);
}

static bool calls(const struct xc_arch *arch, xc_addr target, xc_addr function)
{
	return target == function || (arch->machine == EM_PPC64 && target == function + LOCAL_ENTRY);
}

bool xc_unwind_is_credible(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr target)
{
	if (!target)
		return true;
	struct xc_function_range range = xc_function_range_of(u->process, xc_frame_lookup(frame));
	return xc_reach_may(u->process, target, &range, &u->guessing);
}

/* Old return addresses may lie in local variables. A candidate is the worse when call frame information refutes it, and
 * when its call leads elsewhere. */
static unsigned rank(struct xc_unwinder *u, const struct xc_frame *frame, const struct xc_frame *candidate,
		     xc_addr target)
{
	unsigned leads_on = !xc_unwind_refuted(u, candidate), leads_here = xc_unwind_is_credible(u, frame, target);
	return 2 * leads_on + leads_here;
}

/* Is it the return address of a signal handler: a trampoline with the registers of interrupted code above it? */
static bool leaves_handler(const struct xc_process *p, uint64_t ret, xc_addr at)
{
	struct xc_regs above = {.vector = NULL}, saved;
	uint64_t sp, word;
	xc_regs_set(&above, p->arch->sp, at + p->arch->reg_size);
	return p->arch->lr < 0 && xc_code_executable(p, ret) && xc_code_is_trampoline(p, ret) &&
	       xc_code_interrupted(p, ret, &above, &saved) && xc_regs_get(&saved, p->arch->sp, &sp) &&
	       xc_unwind_load(p, sp, &word);
}

unsigned xc_unwind_scan_words(struct xc_unwinder *u, const struct xc_frame *frame, xc_addr function, xc_addr limit,
			      struct xc_frame *caller)
{
	const struct xc_process *p = u->process;
	uint64_t sp, ret, word = p->arch->reg_size;
	struct xc_frame candidate;
	size_t candidates = 0;
	unsigned best = 0;
	xc_addr target;
	if (!xc_regs_get(&frame->regs, p->arch->sp, &sp))
		return 0;
	for (size_t i = 0; i < XC_SCAN_WORDS && candidates < MAX_CANDIDATES && u->guessing < XC_MAX_GUESSING; i++) {
		u->guessing++;
		if (sp + i * word >= limit || !xc_unwind_load(p, sp + i * word, &ret))
			break;
		uint64_t fp;
		bool returns = xc_code_returns(p, ret, &target);
		bool pushed = !function && !returns && !frame->module && i > 0 && in_generated_code(p, ret) &&
			      xc_unwind_pushed_pointer(p, sp + i * word, &fp);
		if (function ? !returns || !calls(p->arch, target, function)
			     : !returns && !pushed && !leaves_handler(p, ret, sp + i * word))
			continue;
		xc_unwind_at_word(u, frame, ret, sp, i, &candidate);
		unsigned found = function || pushed ? XC_SCAN_BEST : rank(u, frame, &candidate, target) + 1;
		candidates++;
		if (found <= best)
			continue;
		*caller = candidate;
		best = found;
		if (best == XC_SCAN_BEST)
			break;
	}
	return best;
}

bool xc_unwind_scan(struct xc_unwinder *u, const struct xc_frame *frame, struct xc_frame *caller)
{
	return xc_unwind_scan_words(u, frame, 0, UINT64_MAX, caller) > 0;
}
